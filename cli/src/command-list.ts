// Every command of the program. A file is loaded when its command is asked for: `jobcast runs` needs no server.

import type { Command } from 'commander'

export type CommandEntry = { name: string; group: string; does: string; load: () => Promise<Command> }

const follow = 'Trigger and follow:'
const things = 'What there is:'
const files = 'As files:'
const here = 'You and this machine:'
const service = 'The service:'
const devices = 'On devices:'

// biome-ignore format: a line each
export const commands: readonly CommandEntry[] = [
  { name: 'trigger', group: follow, does: 'Trigger a job on devices, and wait for its end if asked to.', load: async () => (await import('./commands/trigger.ts')).triggerCommand() },
  { name: 'runs', group: follow, does: 'List, watch, cancel and retry runs.', load: async () => (await import('./commands/runs.ts')).runsCommand() },
  { name: 'executions', group: follow, does: 'List, watch, cancel and retry executions; read their output.', load: async () => (await import('./commands/executions.ts')).executionsCommand() },
  { name: 'events', group: follow, does: 'Print what happens, as it happens.', load: async () => (await import('./commands/events.ts')).eventsCommand() },

  { name: 'jobs', group: things, does: 'List, show, make, change and delete jobs.', load: async () => (await import('./commands/jobs.ts')).jobsCommand() },
  { name: 'devices', group: things, does: 'List, show, make, change and delete devices; give them tokens.', load: async () => (await import('./commands/devices.ts')).devicesCommand() },
  { name: 'enrollments', group: things, does: 'Let devices fetch their first token themselves.', load: async () => (await import('./commands/enrollments.ts')).enrollmentsCommand() },
  { name: 'webhooks', group: things, does: 'List, make, pause and delete webhooks; see and repeat what was sent.', load: async () => (await import('./commands/webhooks.ts')).webhooksCommand() },
  { name: 'keys', group: things, does: 'List, make and revoke API keys.', load: async () => (await import('./commands/keys.ts')).keysCommand() },
  { name: 'owners', group: things, does: 'List and make owners (needs ADMIN).', load: async () => (await import('./commands/owners.ts')).ownersCommand() },

  { name: 'apply', group: files, does: 'Make jobs, devices and webhooks what files say.', load: async () => (await import('./commands/apply.ts')).applyCommand() },
  { name: 'diff', group: files, does: 'Show how jobs, devices and webhooks differ from files.', load: async () => (await import('./commands/diff.ts')).diffCommand() },

  { name: 'login', group: here, does: 'Keep an address and a key as a profile.', load: async () => (await import('./commands/login.ts')).loginCommand() },
  { name: 'logout', group: here, does: 'Forget a profile.', load: async () => (await import('./commands/login.ts')).logoutCommand() },
  { name: 'profiles', group: here, does: 'List profiles, use another one, forget one.', load: async () => (await import('./commands/profiles.ts')).profilesCommand() },
  { name: 'whoami', group: here, does: 'Show which service and which key are used, and what the key may do.', load: async () => (await import('./commands/whoami.ts')).whoamiCommand() },
  { name: 'doctor', group: here, does: 'Check the way to the service, the key, the clock, and a data folder.', load: async () => (await import('./commands/doctor.ts')).doctorCommand() },
  { name: 'completion', group: here, does: 'Print a script that lets a shell complete commands.', load: async () => (await import('./commands/completion.ts')).completionCommand() },

  { name: 'dev', group: service, does: 'Run the service to try it: with a sample job, simulated devices and a call to paste.', load: async () => (await import('./commands/dev.ts')).devCommand() },
  { name: 'serve', group: service, does: 'Run the service.', load: async () => (await import('./commands/serve.ts')).serveCommand() },
  { name: 'new-key', group: service, does: 'Print a new API key, to be given to the first start as JOBCAST_ADMIN_KEY.', load: async () => (await import('./commands/new-key.ts')).newKeyCommand() },
  { name: 'migrate', group: service, does: 'Bring a database to the schema of this program, or say whether it is there.', load: async () => (await import('./commands/migrate.ts')).migrateCommand() },
  { name: 'export', group: service, does: 'Write everything that a database holds into a file, to move it.', load: async () => (await import('./commands/export.ts')).exportCommand() },
  { name: 'import', group: service, does: 'Read the file of an export into an empty database.', load: async () => (await import('./commands/import.ts')).importCommand() },
  { name: 'backup', group: service, does: 'Copy the database of a data folder while the service runs.', load: async () => (await import('./commands/backup.ts')).backupCommand() },

  { name: 'agent', group: devices, does: 'Run on a device: take its executions one at a time and carry them out.', load: async () => (await import('./commands/agent.ts')).agentCommand() },
  { name: 'sim', group: devices, does: 'Run simulated devices: they sign in, carry out what is triggered on them, and report.', load: async () => (await import('./commands/sim.ts')).simCommand() },
]
