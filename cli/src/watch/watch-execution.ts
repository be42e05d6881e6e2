// Follows one execution to its end, a line for each step.

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
  out.outliveReader()
  const interrupt = listenForInterrupt(io)
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signal = late ? AbortSignal.any([interrupt.signal, late]) : interrupt.signal
  const howToGoOn = `Watch it:  jobcast executions watch ${id}   Cancel it:  jobcast executions cancel ${id}`
  const tell = (step: Step) => {
    const attempt = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
    const reason = reasonOf(step)
    out.say(
      `${clockTime()}  ${paintState(out.paintTalk, step.execState)}${attempt}${reason && `: ${reason}`}`,
    )
  }
  try {
    const execution = await untilEnd(client, id, tell, signal)
    showExecution(out, execution)
    return execution.execState === 'SUCCEEDED' ? exitCode.ok : exitCode.notSucceeded
  } catch (error) {
    if (!signal.aborted) throw error
    if (interrupt.signal.reason instanceof Interrupted) {
      out.say(`Execution ${id} goes on. ${howToGoOn}`)
      return interrupt.signal.reason.exitCode
    }
    out.say(`Execution ${id} had not ended after ${elapsedText(timeoutMs ?? 0)}; it goes on. ${howToGoOn}`)
    return exitCode.waitRanOut
  } finally {
    interrupt.stop()
  }
}

/** The answer of the service is what counts; events only tell the steps sooner. */
async function untilEnd(
  client: Jobcast,
  id: number,
  tell: (step: Step) => void,
  signal: AbortSignal,
): Promise<Execution> {
  let told = -1
  const tellOnce = (step: Step) => {
    if (step.versionNumber <= told) return
    told = step.versionNumber
    tell(step)
  }
  let execution = await client.executions.get(id, { signal })
  tellOnce(execution)
  const events = new AbortController()
  void tellSteps(client, execution, tellOnce, events.signal).catch(() => undefined)
  try {
    while (!isEnd(execution.execState)) execution = await client.executions.get(id, { wait: 60, signal })
  } finally {
    events.abort()
  }
  tellOnce(execution)
  return execution
}

/** A run has one execution on a device. */
async function tellSteps(
  client: Jobcast,
  { runId, deviceId }: Execution,
  tell: (step: Step) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const { data } of client.events({ runId, deviceId, types: ['execution.*'], signal })) {
    if ('jobExecutionId' in data) tell(data)
  }
}
