// Every command of the program. Each file is loaded only for its own command: `jobcast runs` does not load the server.

import type { Command } from 'commander'

export type CommandEntry = {
  name: string
  group: string
  description: string
  /** The command may open a database; a list names the subcommands that do. */
  needsServerNode?: true | readonly string[]
  /** Called by programs only, so help does not list it. */
  isHidden?: true
  load: () => Promise<Command>
}

const follow = 'Trigger and follow:'
const resources = 'Resources:'
const fleet = 'Fleet as code:'
const setup = 'Setup:'
const server = 'Server:'
const devices = 'Devices:'

// biome-ignore format: a line each
export const commands: readonly CommandEntry[] = [
  { name: 'trigger', group: follow, description: 'Trigger a job on devices and optionally wait until the run has finished.', load: async () => (await import('./commands/trigger.ts')).triggerCommand() },
  { name: 'runs', group: follow, description: 'List, watch, cancel and retry runs; pause, resume and approve their rollouts.', load: async () => (await import('./commands/runs.ts')).runsCommand() },
  { name: 'executions', group: follow, description: 'List, watch, cancel and retry executions; read their output.', load: async () => (await import('./commands/executions.ts')).executionsCommand() },
  { name: 'fleet', group: follow, description: 'Freeze the fleet: stop offering work to its devices.', load: async () => (await import('./commands/fleet.ts')).fleetCommand() },
  { name: 'events', group: follow, description: 'Print events as they happen.', load: async () => (await import('./commands/events.ts')).eventsCommand() },

  { name: 'jobs', group: resources, description: 'List, show, create, update and delete jobs.', load: async () => (await import('./commands/jobs.ts')).jobsCommand() },
  { name: 'devices', group: resources, description: 'List, count, show, create, update, import and delete devices; create and revoke device tokens.', load: async () => (await import('./commands/devices.ts')).devicesCommand() },
  { name: 'groups', group: resources, description: 'List, show, create, update and delete groups: named selectors of devices.', load: async () => (await import('./commands/groups.ts')).groupsCommand() },
  { name: 'schedules', group: resources, description: 'List, show, create, update, pause, fire and delete schedules, which create runs automatically.', load: async () => (await import('./commands/schedules.ts')).schedulesCommand() },
  { name: 'windows', group: resources, description: 'List, show, create, update and delete windows: when work is offered to devices.', load: async () => (await import('./commands/windows.ts')).windowsCommand() },
  { name: 'secrets', group: resources, needsServerNode: ['new-key', 'rotate'], description: 'List, show, set and delete secrets for devices; create and rotate the key that encrypts them.', load: async () => (await import('./commands/secrets.ts')).secretsCommand() },
  { name: 'files', group: resources, description: 'List, upload, download and delete files for devices.', load: async () => (await import('./commands/files.ts')).filesCommand() },
  { name: 'enrollments', group: resources, description: 'List, create and revoke enrollments, with which devices get their first token.', load: async () => (await import('./commands/enrollments.ts')).enrollmentsCommand() },
  { name: 'webhooks', group: resources, description: 'List, create, update, pause and delete webhooks; list and replay deliveries.', load: async () => (await import('./commands/webhooks.ts')).webhooksCommand() },
  { name: 'bridges', group: resources, description: 'List the bridges to your own MQTT brokers, and whether they work.', load: async () => (await import('./commands/bridges.ts')).bridgesCommand() },
  { name: 'keys', group: resources, description: 'List, create and revoke API keys.', load: async () => (await import('./commands/keys.ts')).keysCommand() },
  { name: 'sessions', group: resources, description: 'List and end sessions of the console.', load: async () => (await import('./commands/sessions.ts')).sessionsCommand() },
  { name: 'audit', group: resources, description: 'List, export and verify the audit log: who changed what.', load: async () => (await import('./commands/audit.ts')).auditCommand() },
  { name: 'owners', group: resources, description: 'List and create owners (requires ADMIN).', load: async () => (await import('./commands/owners.ts')).ownersCommand() },

  { name: 'apply', group: fleet, description: 'Create or update jobs, devices, groups, windows, secrets, schedules and webhooks from files.', load: async () => (await import('./commands/apply.ts')).applyCommand() },
  { name: 'diff', group: fleet, description: 'Show how jobs, devices, groups, windows, secrets, schedules and webhooks differ from files.', load: async () => (await import('./commands/diff.ts')).diffCommand() },

  { name: 'login', group: setup, description: 'Save an address and an API key as a profile.', load: async () => (await import('./commands/login.ts')).loginCommand() },
  { name: 'logout', group: setup, description: 'Delete a profile.', load: async () => (await import('./commands/login.ts')).logoutCommand() },
  { name: 'profiles', group: setup, description: 'List, select and delete profiles.', load: async () => (await import('./commands/profiles.ts')).profilesCommand() },
  { name: 'whoami', group: setup, description: 'Show which service and API key are used, and the scopes of the key.', load: async () => (await import('./commands/whoami.ts')).whoamiCommand() },
  { name: 'doctor', group: setup, description: 'Check the connection to the service, the API key, the clock, and a data folder.', load: async () => (await import('./commands/doctor.ts')).doctorCommand() },
  { name: 'api', group: setup, description: 'Call the HTTP API directly.', load: async () => (await import('./commands/api.ts')).apiCommand() },
  { name: 'mcp', group: setup, description: 'Serve the tools of the service to an assistant (Model Context Protocol, over stdio).', load: async () => (await import('./commands/mcp.ts')).mcpCommand() },
  { name: 'completion', group: setup, description: 'Print a shell completion script.', load: async () => (await import('./commands/completion.ts')).completionCommand() },

  { name: 'dev', group: server, needsServerNode: true, description: 'Run the service with a sample job and simulated devices, to try it out.', load: async () => (await import('./commands/dev.ts')).devCommand() },
  { name: 'serve', group: server, needsServerNode: true, description: 'Run the service.', load: async () => (await import('./commands/serve.ts')).serveCommand() },
  { name: 'new-key', group: server, description: 'Print a new API key, for JOBCAST_ADMIN_KEY on the first start.', load: async () => (await import('./commands/new-key.ts')).newKeyCommand() },
  { name: 'migrate', group: server, needsServerNode: true, description: 'Migrate a database to the current schema, or check whether it is up to date.', load: async () => (await import('./commands/migrate.ts')).migrateCommand() },
  { name: 'export', group: server, needsServerNode: true, description: 'Export a whole database to a file.', load: async () => (await import('./commands/export.ts')).exportCommand() },
  { name: 'import', group: server, needsServerNode: true, description: 'Import an exported file into an empty database.', load: async () => (await import('./commands/import.ts')).importCommand() },
  { name: 'backup', group: server, needsServerNode: true, description: 'Back up the embedded database while the service runs.', load: async () => (await import('./commands/backup.ts')).backupCommand() },

  { name: 'agent', group: devices, description: 'Run on a device: execute its jobs, one at a time.', load: async () => (await import('./commands/agent.ts')).agentCommand() },
  { name: 'sim', group: devices, description: 'Run simulated devices that connect, run executions and report.', load: async () => (await import('./commands/sim.ts')).simCommand() },

  { name: 'complete-names', group: devices, isHidden: true, description: 'Print names for completion scripts.', load: async () => (await import('./commands/complete-names.ts')).completeNamesCommand() },
]
