// Follows a run to its end: progress on the way, the run as data in the end, its outcome as exit code.

import { type Run, type TriggeredExecution, WaitTimeout } from '@jobcast/client'
import type { OwnerContext } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { elapsedText } from '../flags/wait-time.ts'
import type { Io } from '../io.ts'
import { openProgress } from '../output/draw-progress.ts'
import type { Out } from '../output/out.ts'
import { countsText, failureLine, nameOf, type Progress } from '../output/progress.ts'
import { Interrupted, listenForInterrupt } from '../signals/interrupt.ts'
import { followOutputs, type OutputSink } from './follow-outputs.ts'

export type WatchOptions = {
  timeoutMs?: number | undefined
  /** Whose output is shown as well. */
  follow?: readonly TriggeredExecution[] | undefined
}

export async function watchRun(
  { client, out, io, access, reach }: OwnerContext,
  runId: number,
  { timeoutMs, follow = [] }: WatchOptions,
): Promise<ExitCode> {
  out.outliveReader()
  const interrupt = listenForInterrupt(io)
  const outputs = new AbortController()
  const untilEither = AbortSignal.any([outputs.signal, interrupt.signal])
  const progress = follow.length === 1 ? quiet(out) : openProgress(io, out)
  // The client waits for a service that is away: it may be an upgrade.
  reach.onLost = (reason) => progress.say(`No answer from ${access.url} (${reason}); the wait goes on.`)
  reach.onBack = () => progress.say('The service answers again.')
  try {
    const followed =
      follow.length > 0 && followOutputs(client, follow, sinkOf(io, out, progress), untilEither)
    const run = await client.runs.wait(runId, {
      timeoutMs,
      signal: interrupt.signal,
      onProgress: (run) => progress.update(run),
      onEnded: (execution) => progress.say(failureLine(execution, out.paintTalk)),
    })
    // Its executions have ended, so their outputs are about to.
    await followed
    progress.close()
    showEnd(out, run, follow.length > 0)
    return run.counts.SUCCEEDED === run.total ? exitCode.ok : exitCode.notSucceeded
  } catch (error) {
    progress.close()
    if (error instanceof Interrupted) {
      out.say(`Run ${runId} goes on. ${howToGoOn(runId)}`)
      return error.exitCode
    }
    if (!(error instanceof WaitTimeout)) throw error
    out.say(
      `Run ${runId} had not finished after ${elapsedText(timeoutMs ?? 0)}; it goes on. ${howToGoOn(runId)}`,
    )
    if (error.run) showEnd(out, error.run, follow.length > 0)
    return exitCode.waitRanOut
  } finally {
    outputs.abort()
    interrupt.stop()
  }
}

export function howToGoOn(runId: number): string {
  return `Watch it:  jobcast runs watch ${runId}   Cancel it:  jobcast runs cancel ${runId}`
}

/** The output of devices has standard output for itself, so that it can be kept as it is. */
function showEnd(out: Out, run: Run, hasOutput: boolean): void {
  const text = () => `${nameOf(run)}  ${countsText(run.counts, hasOutput ? out.paintTalk : out.paint)}`
  if (hasOutput && !out.json) out.say(text())
  else out.show(run, text)
}

/** With JSON standard output is for the one document. */
function sinkOf(io: Io, out: Out, progress: Progress): OutputSink {
  return {
    raw: (bytes) => void (out.json ? io.stderr : io.stdout).write(bytes),
    line: (text) => (out.json ? progress.say(text) : progress.line(text)),
    trouble: (text) => progress.say(text),
  }
}

/** What one device writes is shown as it comes, half lines too: a bar would get in between. */
function quiet(out: Out): Progress {
  return {
    update: () => undefined,
    say: (text) => out.say(text),
    line: (text) => out.line(text),
    close: () => undefined,
  }
}
