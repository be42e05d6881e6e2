// Reads the files of -f as a fleet.

import { Option } from 'commander'
import { UsageError } from '../errors/usage-error.ts'
import { collect } from '../flags/collect.ts'
import type { Io } from '../io.ts'
import { type Fleet, parseFleet } from './parse-fleet.ts'
import { readSources } from './read-sources.ts'

export type FleetFlags = { file: string[]; prune?: true }

export function fleetOptions(): Option[] {
  return [
    new Option('-f, --file <path>', 'file, folder, or - for standard input; can be repeated')
      .argParser(collect)
      .makeOptionMandatory(),
    new Option('--prune', 'delete resources that are not in the files, of the kinds that the files contain'),
  ]
}

/** Throws FleetFileError with all problems of the files. */
export async function readFleet({ stdin }: Io, { file }: FleetFlags): Promise<Fleet> {
  try {
    return parseFleet(await readSources(stdin, file))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new UsageError(message)
  }
}
