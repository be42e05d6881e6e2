// The agent's persistent state: its journal, and a folder for each unsettled attempt.
//
// Read next: journal.ts and journal-records.ts, the write-ahead journal of starts; attempt-key.ts and boot-id.ts, what
// identifies an entry; lock-state.ts, which keeps a second agent out.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemReason } from '@jobcast/contract/words'
import type { AttemptKey } from './attempt-key.ts'
import { lockState } from './lock-state.ts'
import { StartRefused } from './start-refused.ts'

export type AttemptPaths = { folder: string; output: string; result: string; workFolder: string }

export type StateFolder = {
  journal: string
  /** The attributes that the server has. */
  attributes: string
  /** The highest version seen of each signed job. */
  versions: string
  /** Fetched files. */
  files: string
  pathsOf(attempt: AttemptKey): AttemptPaths
  /** Creates the folders of an attempt if they do not exist. */
  prepare(attempt: AttemptKey): Promise<AttemptPaths>
  remove(attempt: AttemptKey): Promise<void>
  /** Removes the folders of all other attempts. */
  removeOthers(needed: AttemptKey[]): Promise<void>
  /** Releases the lock. */
  release(): void
}

export async function openStateFolder(path: string): Promise<StateFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    const reason = systemReason(error)
    throw new StartRefused(
      `The state folder ${path} cannot be created: ${reason}. Name another with --state.`,
    )
  })
  const lock = lockState(path)
  const executions = join(path, 'executions')
  await mkdir(executions, { recursive: true, mode: 0o700 })
  const pathsOf = (attempt: AttemptKey): AttemptPaths => {
    const folder = join(executions, folderName(attempt))
    return {
      folder,
      output: join(folder, 'output'),
      result: join(folder, 'result.json'),
      workFolder: join(folder, 'work'),
    }
  }
  const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  return {
    journal: join(path, 'journal'),
    attributes: join(path, 'attributes.json'),
    versions: join(path, 'versions.json'),
    files: join(path, 'files'),
    pathsOf,
    async prepare(attempt) {
      const paths = pathsOf(attempt)
      await mkdir(paths.workFolder, { recursive: true, mode: 0o700 })
      return paths
    },
    remove: (attempt) => removeFolder(pathsOf(attempt).folder),
    async removeOthers(needed) {
      const names = new Set(needed.map(folderName))
      const others = (await readdir(executions)).filter((name) => !names.has(name))
      for (const name of others) await removeFolder(join(executions, name))
    },
    release: lock.release,
  }
}

/** A jobId comes from the network, but offered.ts accepts only digits. */
function folderName({ jobId, attempt }: AttemptKey): string {
  return `${jobId}.${attempt}`
}
