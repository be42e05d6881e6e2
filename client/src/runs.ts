// Runs: all executions of one trigger call.

import { isJobcastError } from './errors.ts'
import type { CancelOptions, GetOptions } from './executions.ts'
import { List, type Query } from './list.ts'
import { path } from './path.ts'
import type { JobDocument, ListRunsQuery, RetryRequest, Run } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'
import { type WaitOptions, waitForRun } from './wait-for-run.ts'

/** `idempotencyKey`: one of your own, so that another process can repeat the call; made up unless given. */
export type TriggerOptions = CallOptions & { idempotencyKey?: string | undefined }

export class Runs {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get(runId: number, { wait, signal }: GetOptions = {}): Promise<Run> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/runs/${runId}`,
      query: { wait },
      holdSeconds: wait,
      signal,
    })
  }

  /** What its devices got: the job's document as it was when the run was made. */
  document(runId: number, { signal }: CallOptions = {}): Promise<JobDocument> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/runs/${runId}/document`, signal })
  }

  /** Newest first. */
  list(query: Query<ListRunsQuery> = {}, options: CallOptions = {}): List<Run> {
    return new List(this.#transport, '/job/api/runs', query, options)
  }

  /** All of it that has not ended. */
  async cancel(runId: number, { force, signal }: CancelOptions = {}): Promise<Run> {
    const { value } = await this.#transport.answer<Run | undefined>({
      method: 'POST',
      path: path`/job/api/runs/${runId}/cancel`,
      body: { force },
      safe: true,
      wasServedBefore: (error) => isJobcastError(error, 'J-303'),
      signal,
    })
    return value ?? this.get(runId, { signal })
  }

  /** A new run of the devices that did not succeed, or of some of them. */
  retry(runId: number, request: RetryRequest = {}, options: TriggerOptions = {}): Promise<Run> {
    const { idempotencyKey = crypto.randomUUID(), signal } = options
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/runs/${runId}/retry`,
      body: request,
      headers: { 'idempotency-key': idempotencyKey },
      safe: true,
      signal,
    })
  }

  /** Resolves when it has finished; rejects with WaitTimeout when that takes longer than `timeoutMs`. */
  wait(runId: number, options: WaitOptions = {}): Promise<Run> {
    return waitForRun(this.#transport, runId, (how) => this.get(runId, how), options)
  }
}
