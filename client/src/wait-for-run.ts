// Follows a run to its end, and reports progress on the way.

import { WaitTimeout } from './errors.ts'
import { linkAbort } from './linked-abort.ts'
import { pause } from './pause.ts'
import { isTemporary, pauseMsBefore } from './repeat.ts'
import { type EndedExecution, reportUnsuccessful } from './report-unsuccessful.ts'
import type { Run } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type { EndedExecution }

export type WaitOptions = CallOptions & {
  /** By default there is no time limit. */
  timeoutMs?: number | undefined
  /** Called with the run at the start, and whenever its counts or its rollout have changed. */
  onProgress?: ((run: Run) => void) | undefined
  /** Called once for each unsuccessful execution, before the wait is over. */
  onEnded?: ((execution: EndedExecution) => void) | undefined
}

type ReadRun = (options: { wait: number; signal: AbortSignal }) => Promise<Run>

/** How long the service holds its response if the run does not finish; shorter with onProgress. */
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
  const ends = onEnded && reportUnsuccessful(transport, runId, onEnded, life)
  try {
    // The first request does not wait: it reads the current state, and checks that the key may read it.
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

/** Once the run was read, keep waiting while the service is unavailable: it may be upgrading. */
async function readPatiently(readRun: ReadRun, how: Parameters<ReadRun>[0], wasSeen: boolean): Promise<Run> {
  for (let failures = 1; ; failures++) {
    try {
      return await readRun(how)
    } catch (error) {
      if (!wasSeen || !isTemporary(error)) throw error
      await pause(pauseMsBefore(failures, error), how.signal)
    }
  }
}

function haveChanged(before: Run | undefined, now: Run): boolean {
  return before === undefined || factsOf(before) !== factsOf(now)
}

function factsOf({ counts, rollout }: Run): string {
  return JSON.stringify([counts, rollout?.state, rollout?.released])
}
