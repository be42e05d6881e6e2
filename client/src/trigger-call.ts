// The trigger is sent at once; await it for its executions, or follow its run to the end.

import { UnexpectedAnswer } from './errors.ts'
import { newRequestKey } from './new-request-key.ts'
import type { Runs, TriggerOptions } from './runs.ts'
import type { Run, TriggeredExecution, TriggerRequest } from './schemas.ts'
import type { Transport } from './transport.ts'
import type { WaitOptions } from './wait-for-run.ts'

export type TriggeredRun = { runId: number; executions: TriggeredExecution[] }

export class TriggerCall implements PromiseLike<TriggeredRun> {
  readonly #triggered: Promise<TriggeredRun>
  readonly #runs: Runs

  constructor(triggered: Promise<TriggeredRun>, runs: Runs) {
    this.#triggered = triggered
    this.#runs = runs
  }

  // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
  get then(): Promise<TriggeredRun>['then'] {
    return this.#triggered.then.bind(this.#triggered)
  }

  get catch(): Promise<TriggeredRun>['catch'] {
    return this.#triggered.catch.bind(this.#triggered)
  }

  /** Resolves with the run when it has finished, however its executions ended. Needs the scope READ as well. */
  async wait(options: WaitOptions = {}): Promise<Run> {
    const { runId } = await this.#triggered
    return this.#runs.wait(runId, options)
  }
}

export async function sendTrigger(
  transport: Transport,
  { jobName, deviceIds }: TriggerRequest,
  { idempotencyKey = newRequestKey(), signal }: TriggerOptions,
): Promise<TriggeredRun> {
  const { status, headers, value } = await transport.answer<TriggeredExecution[]>({
    method: 'POST',
    path: '/job/api/jobs/execute',
    body: { jobName, deviceIds },
    headers: { 'idempotency-key': idempotencyKey },
    safe: true,
    signal,
  })
  const runId = /\/runs\/(\d+)$/.exec(headers.get('location') ?? '')?.[1]
  if (runId === undefined) throw new UnexpectedAnswer('the answer to the trigger names no run', status)
  return { runId: Number(runId), executions: value }
}
