// The output of an execution, slice by slice, to its end or for as long as more may come. Each attempt has its own.

import { setTimeout as rest } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import type { OutputSlice } from './device-report.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import type { Store } from './ports/store.ts'
import type { WaitDeps } from './wait-for-end.ts'

export type ReadOutputDeps = WaitDeps & {
  store: Pick<Store, 'readOutput' | 'getExecution'>
  /** Told, by the execution's id, when there is more output. */
  outputs: ChangeSignal
}

export type OutputWish = {
  /** The newest, and with `follow` those that come after it, unless said. */
  attempt: number | undefined
  offset: number
  /** Stay until the execution, or the attempt that was asked for, has ended. */
  follow: boolean
  callerGone: AbortSignal
  /** Called now and then while there is nothing to read. */
  onIdle: () => void
}

const sliceBytes = 64 * 1024
/** A hint that got lost costs no more than this. */
const lookAgainMs = 2000
/** Between two looks, so that a device that writes byte by byte costs its followers twenty looks a second. */
const restMs = 50

/** `length` is how many bytes are kept by now. The first of them are read before this resolves. */
export async function readOutput(
  deps: ReadOutputDeps,
  { ownerNo }: Caller,
  jobExecutionId: number,
  wish: OutputWish,
): Promise<{ attempt: number; length: number; slices: AsyncGenerator<Uint8Array> }> {
  const newestAttempt = async () => {
    const execution = await deps.store.getExecution({ ownerNo, jobExecutionId })
    if (execution === undefined) throw new ApiError('J-302')
    return execution.attempt
  }
  const read = async (attempt: number, offset: number) => {
    const slice = await deps.store.readOutput({ ownerNo, jobExecutionId, attempt, offset, limit: sliceBytes })
    if (slice === undefined) throw new ApiError('J-302')
    return slice
  }
  const attempt = wish.attempt ?? (await newestAttempt())
  const first = await read(attempt, wish.offset)
  const slices = slicesOf(deps, { jobExecutionId, attempt, first, read, newestAttempt }, wish)
  return { attempt, length: first.length, slices }
}

type Source = {
  jobExecutionId: number
  attempt: number
  first: OutputSlice
  read: (attempt: number, offset: number) => Promise<OutputSlice>
  newestAttempt: () => Promise<number>
}

async function* slicesOf(
  deps: ReadOutputDeps,
  { jobExecutionId, first, read, newestAttempt, ...source }: Source,
  wish: OutputWish,
): AsyncGenerator<Uint8Array> {
  const abort = AbortSignal.any([wish.callerGone, deps.stopping])
  const watch = deps.outputs.openWatch(jobExecutionId)
  deps.changes.openWatch(first.runId, watch)
  let { attempt } = source
  let { offset } = wish
  let toldOfCut = false
  try {
    for (let slice = first; ; slice = await read(attempt, offset)) {
      if (slice.data.length > 0) {
        yield slice.data
        offset += slice.data.length
        continue
      }
      if (slice.cut && !toldOfCut) yield line(`output cut after ${slice.length} bytes`)
      toldOfCut = slice.cut
      if (!wish.follow || abort.aborted) return
      if (slice.ended) {
        if (wish.attempt !== undefined || attempt === (await newestAttempt())) return
        attempt++
        offset = 0
        yield line(`attempt ${attempt}`)
        continue
      }
      wish.onIdle()
      await watch.nextChange(lookAgainMs, abort)
      await rest(restMs)
    }
  } finally {
    watch.close()
  }
}

/** What we say ourselves stands out from what the device wrote. */
function line(text: string): Uint8Array {
  return Buffer.from(`\n[jobcast: ${text}]\n`)
}
