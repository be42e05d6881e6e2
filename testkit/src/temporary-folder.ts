import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A test, or a whole file: what it leaves to its end. */
export type Ending = { after(work: () => void | Promise<void>): void }

/** A folder of its own for one test, gone afterwards. What is opened in it must be closed before the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = newTemporaryFolder()
  removeAfter(t, folder)
  return folder
}

export function newTemporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'jobcast-test-'))
}

/** With the tables of the embedded store and nothing in them: to copy them is faster than to create them. */
export function newDataFolder(): string {
  const folder = newTemporaryFolder()
  const empty = process.env.JOBCAST_TEST_DATABASE
  if (empty !== undefined) copyFileSync(empty, join(folder, 'jobcast.db'))
  return folder
}

/** What a test leaves to the end happens in the order in which it was left: first to be closed, then to be removed. */
export function removeAfter(t: Ending, folder: string): void {
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}
