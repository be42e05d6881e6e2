// A file in the content folder names its installation. Without it, a service with another or a new database would consider all
// content as unused, and remove it.

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const markName = 'installation'

/** Marks an unmarked folder. False: the folder belongs to another installation. */
export async function claimFolder(folder: string, installationId: string): Promise<boolean> {
  const mark = join(folder, markName)
  const found = await readMark(mark)
  if (found !== undefined) return found === installationId
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Nodes of one installation may do this at the same time, so the mark is created atomically.
  const draft = `${mark}.${randomUUID()}`
  try {
    await writeFile(draft, `${installationId}\n`, { mode: 0o600, flush: true })
    await rename(draft, mark)
  } catch (error) {
    // Retried with each sweep, also while the disk is full.
    await unlink(draft).catch(() => undefined)
    throw error
  }
  return (await readMark(mark)) === installationId
}

async function readMark(mark: string): Promise<string | undefined> {
  try {
    return (await readFile(mark, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
