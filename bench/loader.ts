// The parent's side of the load process.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadOrder, LoadResult } from './load.ts'
import { endProcess, startProcess } from './processes.ts'

const program = fileURLToPath(new URL('load.ts', import.meta.url))
/** Longer than any single call: a contender that hangs ends the run. */
const graceMs = 120_000

export type Loader = { run(order: LoadOrder): Promise<LoadResult>; end(): Promise<void> }

export function openLoader(): Loader {
  const child = startProcess(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    async run(order) {
      child.send(order)
      const { result, error } = await nextMessage(child, order.warmUpMs + order.measureMs + graceMs)
      if (result === undefined) throw new Error(error)
      return result
    },
    end: () => endProcess(child),
  }
}

type Reply = { result?: LoadResult; error?: string }

async function nextMessage(child: ChildProcess, withinMs: number): Promise<Reply> {
  const [reply] = await once(child, 'message', { signal: AbortSignal.timeout(withinMs) })
  return reply as Reply
}
