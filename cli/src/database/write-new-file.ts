// A file that is complete under its name or not there at all, also when a signal ends the program half way.

import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'
import { untilInterrupted } from '../signals/interrupt.ts'

/** `write` gets the name to write to meanwhile. `what` is for the message: "a backup". */
export async function writeNewFile<T>(
  io: Io,
  to: string,
  what: string,
  write: (draft: string) => Promise<T>,
): Promise<{ file: string; written: T }> {
  const file = resolve(to)
  if (!existsSync(dirname(file))) throw new UsageError(`there is no folder ${dirname(file)}`)
  refuseExisting(file, what)
  const draft = `${file}.${process.pid}.part`
  try {
    const written = await untilInterrupted(io, () => write(draft))
    refuseExisting(file, what)
    renameSync(draft, file)
    return { file, written }
  } finally {
    rmSync(draft, { force: true })
  }
}

function refuseExisting(file: string, what: string): void {
  if (existsSync(file)) throw new UsageError(`${file} is there already; ${what} replaces nothing`)
}
