// The folder in which an agent remembers: its journal, and a folder for each attempt that is not settled.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockState } from './lock-state.ts'
import type { AttemptKey } from './transport.ts'

export type AttemptPaths = { folder: string; output: string; result: string; workFolder: string }

export type StateFolder = {
  journal: string
  pathsOf(attempt: AttemptKey): AttemptPaths
  /** Makes the folders of an attempt where they are not there yet. */
  prepare(attempt: AttemptKey): Promise<AttemptPaths>
  remove(attempt: AttemptKey): Promise<void>
  /** Removes folders that no attempt of these needs. */
  removeOthers(needed: AttemptKey[]): Promise<void>
  /** Lets another agent work here. */
  release(): void
}

export async function openStateFolder(path: string): Promise<StateFolder> {
  await mkdir(path, { recursive: true, mode: 0o700 })
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

/** A jobId comes from the wire, but offered.ts lets only digits through. */
function folderName({ jobId, attempt }: AttemptKey): string {
  return `${jobId}.${attempt}`
}
