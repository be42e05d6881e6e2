// Streams the output of an execution, to its current end or until the execution ends. Each attempt has its own output.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import type { Store } from '../common/ports/store.ts'
import type { ChangeSignal } from '../event/ports/change-signal.ts'
import type { OutputSlice } from './ports/executions.ts'
import type { WaitDeps } from './wait-for-end.ts'

export type ReadOutputDeps = WaitDeps & {
  store: Pick<Store, 'readOutput' | 'getExecution'>
  /** Signals new output, by execution id. */
  outputs: ChangeSignal
}

export type OutputQuery = {
  /** By default the newest, and with `follow` also later ones. */
  attempt: number | undefined
  offset: number
  /** Continue until the execution, or the requested attempt, has ended. */
  follow: boolean
  callerGone: AbortSignal
  /** Whether the caller still has access: checked before each part. */
  isValid?: () => Promise<boolean>
  /** Called periodically while there is nothing to read. */
  onIdle: () => void
}

const sliceBytes = 64 * 1024
/** Bounds the delay after a lost signal. */
const pollEveryMs = 2000
/** Delay between two reads, so that a device that writes byte by byte costs each follower twenty reads a second. */
const pollDelayMs = 50

/** `length` is the number of stored bytes. The first slice is read before this resolves. */
export async function readOutput(
  deps: ReadOutputDeps,
  { ownerNo }: Caller,
  jobExecutionId: number,
  query: OutputQuery,
): Promise<{ attempt: number; length: number; slices: AsyncGenerator<Uint8Array> }> {
  const newestAttempt = async () => {
    const execution = await deps.store.getExecution({ ownerNo, jobExecutionId })
    if (execution === undefined) throw notFound('J-302', jobExecutionId)
    return execution.attempt
  }
  const read = async (attempt: number, offset: number) => {
    const slice = await deps.store.readOutput({ ownerNo, jobExecutionId, attempt, offset, limit: sliceBytes })
    if (slice === undefined) throw notFound('J-302', jobExecutionId)
    return slice
  }
  const attempt = query.attempt ?? (await newestAttempt())
  const first = await read(attempt, query.offset)
  const slices = slicesOf(deps, { jobExecutionId, attempt, first, read, newestAttempt }, query)
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
  query: OutputQuery,
): AsyncGenerator<Uint8Array> {
  const abort = AbortSignal.any([query.callerGone, deps.stopping])
  const watch = deps.outputs.openWatch(jobExecutionId)
  deps.changes.openWatch(first.runId, watch)
  let { attempt } = source
  let { offset } = query
  let hasReportedCut = false
  let { length } = first
  try {
    for (let slice = first; ; slice = await read(attempt, offset)) {
      // The device said not now, so its output was removed and starts over.
      const isAnew = slice.length < length
      length = slice.length
      if (isAnew) {
        offset = 0
        yield line('output removed: the device runs this again later')
        continue
      }
      if (slice.data.length > 0) {
        if (query.isValid && !(await query.isValid())) return
        yield slice.data
        offset += slice.data.length
        continue
      }
      if (slice.cut && !hasReportedCut) yield line(`output cut after ${slice.length} bytes`)
      hasReportedCut = slice.cut
      if (!query.follow || abort.aborted) return
      if (slice.ended) {
        if (query.attempt !== undefined || attempt === (await newestAttempt())) return
        attempt++
        offset = 0
        length = 0
        yield line(`attempt ${attempt}`)
        continue
      }
      query.onIdle()
      await watch.nextChange(pollEveryMs, abort)
      await sleep(pollDelayMs)
    }
  } finally {
    watch.close()
  }
}

/** Marks lines added by the server, so that they stand out from the device's output. */
function line(text: string): Uint8Array {
  return Buffer.from(`\n[jobcast: ${text}]\n`)
}
