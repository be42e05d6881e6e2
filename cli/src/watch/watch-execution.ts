// Follows one execution until it ends, with a line per state change.

import { type Execution, type ExecutionEventData, isEnd, type Jobcast } from '@jobcast/client'
import type { OwnerContext } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { elapsedText } from '../flags/wait-time.ts'
import { clockTime } from '../output/clock-time.ts'
import { paintState } from '../output/colors.ts'
import { reasonOf } from '../output/progress.ts'
import { showExecution } from '../output/show-executions.ts'
import { Interrupted, listenForInterrupt } from '../signals/interrupt.ts'

type Step = Execution | ExecutionEventData

export async function watchExecution(
  { client, out, io }: OwnerContext,
  id: number,
  timeoutMs: number | undefined,
): Promise<ExitCode> {
  out.ignoreReader()
  const interrupt = listenForInterrupt(io)
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signal = late ? AbortSignal.any([interrupt.signal, late]) : interrupt.signal
  const nextSteps = `Watch it:  jobcast executions watch ${id}   Cancel it:  jobcast executions cancel ${id}`
  const print = (step: Step) => {
    const attempt = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
    const reason = reasonOf(step)
    out.say(
      `${clockTime()}  ${paintState(out.paintMessage, step.execState)}${attempt}${reason && `: ${reason}`}`,
    )
  }
  try {
    const execution = await untilEnd(client, id, print, signal)
    showExecution(out, execution)
    return execution.execState === 'SUCCEEDED' ? exitCode.ok : exitCode.unsuccessful
  } catch (error) {
    if (!signal.aborted) throw error
    if (interrupt.signal.reason instanceof Interrupted) {
      out.say(`Execution ${id} continues. ${nextSteps}`)
      return interrupt.signal.reason.exitCode
    }
    out.say(`Execution ${id} has not ended after ${elapsedText(timeoutMs ?? 0)} and continues. ${nextSteps}`)
    return exitCode.timedOut
  } finally {
    interrupt.stop()
  }
}

/** The result comes from GET; events only show state changes sooner. */
async function untilEnd(
  client: Jobcast,
  id: number,
  print: (step: Step) => void,
  signal: AbortSignal,
): Promise<Execution> {
  let printed = -1
  const printOnce = (step: Step) => {
    if (step.versionNumber <= printed) return
    printed = step.versionNumber
    print(step)
  }
  let execution = await client.executions.get(id, { signal })
  printOnce(execution)
  const events = new AbortController()
  void printSteps(client, execution, printOnce, events.signal).catch(() => undefined)
  try {
    while (!isEnd(execution.execState)) execution = await client.executions.get(id, { wait: 60, signal })
  } finally {
    events.abort()
  }
  printOnce(execution)
  return execution
}

/** A run has at most one execution per device. */
async function printSteps(
  client: Jobcast,
  { runId, deviceId }: Execution,
  print: (step: Step) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const { data } of client.events({ runId, deviceId, types: ['execution.*'], signal })) {
    if ('jobExecutionId' in data) print(data)
  }
}
