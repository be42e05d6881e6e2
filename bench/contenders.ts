// Contenders: Jobcast and its limits, everything that can be measured in a cell.

import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type JobcastOptions, startJobcast } from './jobcast.ts'
import type { LoadResult } from './load.ts'
import type { Loader } from './loader.ts'
import { removeFolder, startProcess, temporaryFolder } from './processes.ts'
import { startTarget, type Target } from './server-process.ts'
import { copyStored, type Stored } from './stored.ts'

/** `hasKeys`: each call has a new Idempotency-Key. */
export type Cell = { devices: number; callers: number; hasKeys?: true }
export type Timing = { warmUpMs: number; measureMs: number }
/** A contender without HTTP has only a rate. */
export type Measured = Pick<LoadResult, 'callsPerSecond'> & Partial<LoadResult>

/** Each measurement starts a new process on a new copy of the database. */
export type Contender = {
  name: string
  /** Others are left out of cells with keys. */
  takesKeys?: true
  measure(cell: Cell, timing: Timing): Promise<Measured>
}

export function overHttp(name: string, loader: Loader, start: (cell: Cell) => Promise<Target>): Contender {
  return {
    name,
    takesKeys: true,
    async measure(cell, timing) {
      const { end, ...target } = await start(cell)
      const manner = cell.hasKeys ? 'new key' : 'plain'
      const work = { kind: 'trigger', devices: cell.devices, manner } as const
      const result = await loader.run({ ...target, ...timing, work, callers: cell.callers })
      await end()
      return result
    },
  }
}

export async function startOnCopy(stored: Stored, options: JobcastOptions = {}) {
  const folder = copyStored(stored)
  const jobcast = await startJobcast(folder, options)
  return {
    ...jobcast,
    async end() {
      await jobcast.end()
      removeFolder(folder)
    },
  }
}

export const startNothingStored = () => startTarget('limits/nothing-stored.ts')
export const startBareHttp = ({ devices }: Cell) => startTarget('limits/bare-http.ts', String(devices))

export async function startSqliteSketch(): Promise<Target> {
  const folder = temporaryFolder()
  const sketch = await startTarget('limits/sqlite-sketch.ts', folder)
  return {
    ...sketch,
    async end() {
      await sketch.end()
      removeFolder(folder)
    },
  }
}

export function rawInsert(name: string, stored: Stored): Contender {
  const program = fileURLToPath(new URL('limits/raw-insert.ts', import.meta.url))
  return {
    name,
    async measure({ devices, callers }, { warmUpMs, measureMs }) {
      const folder = copyStored(stored)
      const args = [program, folder, ...[devices, callers, warmUpMs, measureMs].map(String)]
      const child = startProcess(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      const gone = once(child, 'exit')
      const failed = gone.then(() => Promise.reject(new Error('the raw insert ended without a result')))
      const [measured] = await Promise.race([once(child, 'message'), failed])
      failed.catch(() => undefined)
      await gone
      removeFolder(folder)
      return measured as Measured
    },
  }
}
