// Which kind of names an argument or a flag takes. Arguments and flags are named alike in all commands.

import { type ResourceName, resources } from '@jobcast/client'
import type { Command } from 'commander'

export type NameKind = ResourceName | 'runs'

const ofArguments: Readonly<Record<string, NameKind>> = {
  ...Object.fromEntries(Object.entries(resources).map(([name, { key }]) => [key, name as ResourceName])),
  job: 'jobs',
  runId: 'runs',
}

const ofFlags: Readonly<Record<string, NameKind>> = {
  '--job': 'jobs',
  '--device': 'devices',
  '--group': 'groups',
  '--window': 'windows',
  '--run': 'runs',
}

/** The kind of the first argument. */
export function argumentKind(command: Command): NameKind | undefined {
  const name = command.registeredArguments[0]?.name()
  return name !== undefined && callsService(command) ? ofArguments[name] : undefined
}

export function flagKind(command: Command, long: string | undefined): NameKind | undefined {
  return long !== undefined && callsService(command) ? ofFlags[long] : undefined
}

/** Commands that run on a device have no API key to ask with. */
function callsService(command: Command): boolean {
  return command.options.some(({ long }) => long === '--api-key')
}
