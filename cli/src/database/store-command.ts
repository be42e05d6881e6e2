// Commands that open a database directly, not through a service: which database, and how errors become exit codes.

import {
  ConfigError,
  DatabaseMissing,
  loadPlace,
  StartRefused,
  StorageUnavailable,
  type StorePlace,
  TransferRefused,
} from '@jobcast/server'
import type { Command } from 'commander'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { dataOption } from '../flags/data-option.ts'
import type { Io } from '../io.ts'
import type { Out } from '../output/out.ts'
import { Interrupted, untilInterrupted } from '../signals/interrupt.ts'

export type StoreFlags = { data?: string | undefined }
type StoreContext = { io: Io; out: Out; place: StorePlace }

export function storeCommand(name: string): Command {
  return plainCommand(name).addOption(dataOption())
}

/** The action's arguments are those of commander: arguments, then flags, then the command. */
export function withDatabase<Args extends unknown[]>(
  act: (context: StoreContext, ...args: Args) => Promise<ExitCode>,
) {
  return withOut(async ({ out, io }, ...args: Args) => {
    try {
      const place = placeOf(args.at(-2) as StoreFlags, io.env)
      // Process 1 of a container ignores signals that it does not listen for.
      return await untilInterrupted(io, () => act({ out, io, place }, ...args))
    } catch (error) {
      const code = codeOf(error)
      if (code === undefined) throw error
      out.say(`jobcast: ${(error as Error).message}`)
      return code
    }
  })
}

/** An invalid DATABASE_URL is a usage error. */
export function placeOf({ data }: StoreFlags, env: NodeJS.ProcessEnv): StorePlace {
  try {
    return loadPlace(data, env)
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message)
    throw error
  }
}

/** Undefined for errors that the caller reports. */
function codeOf(error: unknown): ExitCode | undefined {
  if (error instanceof DatabaseMissing) return exitCode.usage
  if (error instanceof TransferRefused || error instanceof StartRefused) return exitCode.validation
  if (error instanceof StorageUnavailable) return exitCode.unavailable
  // Errors of the disk, the system or SQLite are often temporary.
  const { code } = error as NodeJS.ErrnoException
  return code === undefined || error instanceof UsageError || error instanceof Interrupted
    ? undefined
    : exitCode.unavailable
}
