// Whose content a folder has: a file in it names the installation. A service with another database, or a new one, would find that
// nothing in the folder is needed, and remove it.

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const markName = 'installation'

/** Marks a folder that has no mark. False: it has another's. */
export async function claimFolder(folder: string, installationId: string): Promise<boolean> {
  const mark = join(folder, markName)
  const found = await readMark(mark)
  if (found !== undefined) return found === installationId
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Nodes of one installation may do this at the same time: the mark is whole at any moment.
  const draft = `${mark}.${randomUUID()}`
  try {
    await writeFile(draft, `${installationId}\n`, { mode: 0o600, flush: true })
    await rename(draft, mark)
  } catch (error) {
    // It is tried again with each sweep, on a disk that is full.
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
