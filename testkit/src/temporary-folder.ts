import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Cleanup at the end of a test or a whole file. */
export type Ending = { after(work: () => void | Promise<void>): void }

/** A folder for one test, removed afterwards. Close all files in it before the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = newTemporaryFolder()
  removeAfter(t, folder)
  return folder
}

export function newTemporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'jobcast-test-'))
}

/** A folder with the empty tables of the embedded store: copying them is faster than creating them. */
export function newDataFolder(): string {
  const folder = newTemporaryFolder()
  const empty = process.env.JOBCAST_TEST_DATABASE
  if (empty !== undefined) copyFileSync(empty, join(folder, 'jobcast.db'))
  return folder
}

/** Cleanups run in the order in which they were registered: close first, then remove. */
export function removeAfter(t: Ending, folder: string): void {
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}
