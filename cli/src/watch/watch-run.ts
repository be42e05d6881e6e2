// Follows a run until it has finished: shows progress, prints the run, returns its outcome as exit code.

import { type Run, type TriggeredExecution, WaitTimeout } from '@jobcast/client'
import type { OwnerContext } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { elapsedText } from '../flags/wait-time.ts'
import { openProgress } from '../output/draw-progress.ts'
import type { Out } from '../output/out.ts'
import { countsText, nameOf, type Progress, unsuccessfulLine } from '../output/progress.ts'
import { filterFor } from '../output/terminal-filter.ts'
import { Interrupted, listenForInterrupt } from '../signals/interrupt.ts'
import { followOutputs, type OutputSink } from './follow-outputs.ts'
import { isHalted, RolloutHalted } from './rollout-halted.ts'
import { WaitingFor } from './waiting-for.ts'

type WatchOptions = {
  timeoutMs?: number | undefined
  /** Executions whose output is printed as well. */
  follow?: readonly TriggeredExecution[] | undefined
  /** Their output unfiltered, also on a terminal. */
  raw?: boolean | undefined
}

export async function watchRun(
  context: OwnerContext,
  runId: number,
  { timeoutMs, follow = [], raw }: WatchOptions,
): Promise<ExitCode> {
  const { client, out, io, access, reach } = context
  out.ignoreReader()
  const interrupt = listenForInterrupt(io)
  const ended = new AbortController()
  const untilEither = AbortSignal.any([ended.signal, interrupt.signal])
  const progress = follow.length === 1 ? noProgress(out) : openProgress(io, out)
  // The client retries while the service is unreachable, for example during an upgrade.
  reach.onLost = (reason) => progress.say(`No response from ${access.url} (${reason}); still waiting.`)
  reach.onBack = () => progress.say('The service is reachable again.')
  const waiting = new WaitingFor({ client, runId, say: progress.say.bind(progress), signal: untilEither })
  try {
    const followed =
      follow.length > 0 && followOutputs(client, follow, sinkOf(context, progress, raw), untilEither)
    const run = await client.runs.wait(runId, {
      timeoutMs,
      signal: interrupt.signal,
      onProgress(run) {
        progress.update(run)
        waiting.update(run)
        // Nothing more will end without an action of a user, so the wait ends.
        if (isHalted(run)) throw new RolloutHalted(run)
      },
      onEnded: (execution) => progress.say(unsuccessfulLine(execution, out.paintMessage)),
    })
    // The executions have ended, so their outputs end as well.
    await followed
    progress.close()
    showEnd(out, run, follow.length > 0)
    return run.counts.SUCCEEDED === run.total ? exitCode.ok : exitCode.unsuccessful
  } catch (error) {
    if (error instanceof WaitTimeout) await waiting.explainNow()
    progress.close()
    return endWithoutResult(out, runId, error, { timeoutMs, follow })
  } finally {
    ended.abort()
    interrupt.stop()
  }
}

/** The wait has ended before the run. */
function endWithoutResult(
  out: Out,
  runId: number,
  error: unknown,
  { timeoutMs = 0, follow = [] }: WatchOptions,
): ExitCode {
  if (error instanceof Interrupted) {
    out.say(`Run ${runId} continues. ${nextSteps(runId)}`)
    return error.exitCode
  }
  if (error instanceof RolloutHalted) {
    out.say(error.message)
    showEnd(out, error.run, follow.length > 0)
    return error.exitCode
  }
  if (!(error instanceof WaitTimeout)) throw error
  out.say(`Run ${runId} has not finished after ${elapsedText(timeoutMs)} and continues. ${nextSteps(runId)}`)
  if (error.run) showEnd(out, error.run, follow.length > 0)
  return exitCode.timedOut
}

export function nextSteps(runId: number): string {
  return `Watch it:  jobcast runs watch ${runId}   Cancel it:  jobcast runs cancel ${runId}`
}

/** With --follow, standard output holds nothing but the output of devices. */
function showEnd(out: Out, run: Run, hasOutput: boolean): void {
  const text = () => `${nameOf(run)}  ${countsText(run.counts, hasOutput ? out.paintMessage : out.paint)}`
  if (hasOutput && !out.json) out.say(text())
  else out.show(run, text)
}

/** With --json, standard output is for the JSON document. */
function sinkOf({ io, out }: OwnerContext, progress: Progress, raw: boolean | undefined): OutputSink {
  const target = out.json ? io.stderr : io.stdout
  return {
    write: (bytes) => void target.write(bytes),
    line: (text) => (out.json ? progress.say(text) : progress.line(text)),
    openFilter: () => filterFor(target, { raw }),
    problem: (text) => progress.say(text),
  }
}

/** The output of one device is printed as it arrives, incomplete lines too: a bar would interfere. */
function noProgress(out: Out): Progress {
  return {
    update: () => undefined,
    say: (text) => out.say(text),
    line: (text) => out.line(text),
    close: () => undefined,
  }
}
