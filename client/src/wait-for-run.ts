// Follows a run to its end, and tells on the way how far it is.

import { WaitTimeout } from './errors.ts'
import { linkAbort } from './linked-abort.ts'
import { pause } from './pause.ts'
import { isPassing, pauseMsBefore } from './repeat.ts'
import type { Run } from './schemas.ts'
import { type EndedExecution, tellFailedEnds } from './tell-failed-ends.ts'
import type { CallOptions, Transport } from './transport.ts'

export type { EndedExecution }

export type WaitOptions = CallOptions & {
  /** Without it the wait has no end but that of the run. */
  timeoutMs?: number | undefined
  /** Called with the run as it is at first, and whenever its counts have changed. */
  onProgress?: ((run: Run) => void) | undefined
  /** Called once for each execution that ended otherwise than SUCCEEDED, before the wait is over. */
  onEnded?: ((execution: EndedExecution) => void) | undefined
}

type ReadRun = (options: { wait: number; signal: AbortSignal }) => Promise<Run>

/** The service holds its answer that long, if the run does not finish; with onProgress shorter. */
const holdSeconds = 60
const progressSeconds = 1

export async function waitForRun(
  transport: Transport,
  runId: number,
  readRun: ReadRun,
  { timeoutMs, onProgress, onEnded, signal }: WaitOptions,
): Promise<Run> {
  const life = linkAbort(signal)
  let run: Run | undefined
  let isLate = false
  const timer =
    timeoutMs !== undefined &&
    setTimeout(() => {
      isLate = true
      life.abort(new Error('the wait is over'))
    }, timeoutMs)
  const ends = onEnded && tellFailedEnds(transport, runId, onEnded, life)
  try {
    // The first answer comes at once: it tells where the run is, and whether the key may read at all.
    for (let wait = 0; ; wait = onProgress ? progressSeconds : holdSeconds) {
      const before: Run | undefined = run
      run = await readPatiently(readRun, { wait, signal: life.signal }, before !== undefined)
      if (haveChanged(before, run)) onProgress?.(run)
      if (!run.finished) continue
      await ends?.finish(run)
      life.signal.throwIfAborted()
      return run
    }
  } catch (error) {
    if (isLate && timeoutMs !== undefined) throw new WaitTimeout(runId, timeoutMs, run)
    throw error
  } finally {
    if (timer !== false) clearTimeout(timer)
    life.abort()
    life.unlink()
  }
}

/** Once the run was seen, a service that is away is waited for as well: it may be an upgrade. */
async function readPatiently(readRun: ReadRun, how: Parameters<ReadRun>[0], wasSeen: boolean): Promise<Run> {
  for (let failures = 1; ; failures++) {
    try {
      return await readRun(how)
    } catch (error) {
      if (!wasSeen || !isPassing(error)) throw error
      await pause(pauseMsBefore(failures, error), how.signal)
    }
  }
}

function haveChanged(before: Run | undefined, now: Run): boolean {
  return before === undefined || JSON.stringify(before.counts) !== JSON.stringify(now.counts)
}
