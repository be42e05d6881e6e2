// What -f names, as a fleet, or all that is wrong with it.

import { Option } from 'commander'
import { UsageError } from '../errors/usage-error.ts'
import { collect } from '../flags/collect.ts'
import type { Io } from '../io.ts'
import { type Fleet, parseFleet } from './parse-fleet.ts'
import { readSources } from './read-sources.ts'

export type FleetFlags = { file: string[]; prune?: true }

export function fleetOptions(): Option[] {
  return [
    new Option('-f, --file <path>', 'a file, a folder of files, or - for standard input; can be repeated')
      .argParser(collect)
      .makeOptionMandatory(),
    new Option('--prune', 'delete what the files do not have, of the kinds that they name'),
  ]
}

/** Throws FleetFileError with everything that is wrong in the files. */
export async function readFleet({ stdin }: Io, { file }: FleetFlags): Promise<Fleet> {
  try {
    return parseFleet(await readSources(stdin, file))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new UsageError(message)
  }
}
