// Executions: one job on one device each.

import { isJobcastError } from './errors.ts'
import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type ExecutionOutput, openOutput } from './read-output.ts'
import type { Execution, Explanation, History, JobDocument, ListExecutionsQuery } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `wait`: wait until the execution has ended, for up to this many seconds (at most 60). */
export type GetOptions = CallOptions & { wait?: number | undefined }
/** `force`: without waiting for the device to confirm. */
export type CancelOptions = CallOptions & { force?: boolean | undefined }
export type OutputOptions = CallOptions & {
  /** The byte to start at. */
  offset?: number | undefined
  /** By default the newest, and with `follow` those after it. */
  attempt?: number | undefined
  /** Continue until the execution, or the requested attempt, has ended. */
  follow?: boolean | undefined
}

export class Executions {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get(jobExecutionId: number, { wait, signal }: GetOptions = {}): Promise<Execution> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/executions/${jobExecutionId}`,
      query: { wait },
      holdSeconds: wait,
      signal,
    })
  }

  /** Newest first. */
  list(query: Query<ListExecutionsQuery> = {}, options: CallOptions = {}): List<Execution> {
    return new List(this.#transport, '/job/api/executions', query, options)
  }

  async cancel(jobExecutionId: number, { force, signal }: CancelOptions = {}): Promise<Execution> {
    const { value } = await this.#transport.answer<Execution | undefined>({
      method: 'POST',
      path: path`/job/api/executions/${jobExecutionId}/cancel`,
      body: { force },
      safe: true,
      wasServedBefore: (error) => isJobcastError(error, 'J-303'),
      signal,
    })
    return value ?? this.get(jobExecutionId, { signal })
  }

  /** The document that its device gets, with placeholders filled in and secrets masked. */
  document(jobExecutionId: number, { signal }: CallOptions = {}): Promise<JobDocument> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/executions/${jobExecutionId}/document`,
      signal,
    })
  }

  /** The history: what changed, when, and by whom. */
  history(jobExecutionId: number, { signal }: CallOptions = {}): Promise<History> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/executions/${jobExecutionId}/history`,
      signal,
    })
  }

  /** Explains why it has not ended yet, or how it ended. */
  explain(jobExecutionId: number, { signal }: CallOptions = {}): Promise<Explanation> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/executions/${jobExecutionId}/explain`,
      signal,
    })
  }

  /** The output of the device; resolves when the attempt is known. */
  output(jobExecutionId: number, options: OutputOptions = {}): Promise<ExecutionOutput> {
    const { offset = 0, attempt, follow = false, signal } = options
    const execution = () => this.get(jobExecutionId, { signal })
    return openOutput(this.#transport, { jobExecutionId, offset, attempt, follow, signal, execution })
  }
}
