// Writes a file atomically: it is complete or does not exist, also when a signal interrupts the program.

import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'
import { untilInterrupted } from '../signals/interrupt.ts'

/** `write` gets a temporary name to write to. `what` is for the message: "a backup". */
export async function writeNewFile<T>(
  io: Io,
  to: string,
  what: string,
  write: (draft: string) => Promise<T>,
): Promise<{ file: string; written: T }> {
  const file = resolve(to)
  if (!existsSync(dirname(file))) throw new UsageError(`folder ${dirname(file)} does not exist`)
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
  if (existsSync(file)) throw new UsageError(`${file} already exists; ${what} does not overwrite files`)
}
