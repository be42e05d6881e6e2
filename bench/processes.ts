// Tracks every process and folder of a run, so that none outlives it, however it ends.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const running = new Set<ChildProcess>()
const folders = new Set<string>()

// Next to the code, because the system's temporary folder is in memory on many machines.
const dataFolder = fileURLToPath(new URL('data/', import.meta.url))

export function startProcess(command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** A new folder on disk, accessible to PostgreSQL, which may run as another user. */
export function temporaryFolder(): string {
  mkdirSync(dataFolder, { recursive: true })
  const folder = mkdtempSync(`${dataFolder}run-`)
  chmodSync(folder, 0o755)
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  folders.delete(folder)
}

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) removeFolder(folder)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
