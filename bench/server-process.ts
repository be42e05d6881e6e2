// A server program of this folder in its own process: it reports its port and key, and ends with its parent.

import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endProcess, removeFolder, startProcess, temporaryFolder } from './processes.ts'

export type Target = { port: number; apiKey: string; end(): Promise<void> }

/** A target that also takes commands. */
type CommandedTarget = Target & { pid: number; command(message: object | string): void }

export async function startTarget(program: string, ...args: string[]): Promise<Target> {
  const { port, apiKey, end } = await startCommanded(program, ...args)
  return { port, apiKey, end }
}

export async function startCommanded(program: string, ...args: string[]): Promise<CommandedTarget> {
  const folder = temporaryFolder()
  const log = openSync(join(folder, 'log'), 'w')
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = startProcess(process.execPath, [path, ...args], { stdio: ['ignore', log, 'inherit', 'ipc'] })
  closeSync(log)
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${program} did not start`)))
  const [message] = await Promise.race([once(child, 'message'), failed])
  failed.catch(() => undefined)
  return {
    ...(message as { port: number; apiKey: string }),
    pid: child.pid ?? 0,
    command: (message) => void child.send(message),
    async end() {
      await endProcess(child)
      removeFolder(folder)
    },
  }
}

/** Called by the program itself, once it listens. */
export function tellParent(port: number, apiKey = '', onOrphaned: () => void = () => process.exit()): void {
  process.send?.({ port, apiKey })
  process.on('disconnect', onOrphaned)
}
