// Schedules: create runs automatically.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type Put, put, remove } from './put.ts'
import type { ListSchedulesQuery, Occurrence, Run, Schedule, ScheduleContent } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Schedules {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the schedule. */
  put(name: string, content: ScheduleContent, { signal }: CallOptions = {}): Promise<Put<Schedule>> {
    return put(this.#transport, { path: path`/job/api/schedules/${name}`, body: content, signal })
  }

  get(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/schedules/${name}`, signal })
  }

  list(query: Query<ListSchedulesQuery> = {}, options: CallOptions = {}): List<Schedule> {
    return new List(this.#transport, '/job/api/schedules', query, options)
  }

  /** Its next occurrences, at most `count` (10, up to 100), as if it were not paused. */
  next(name: string, { count, signal }: CallOptions & { count?: number } = {}): Promise<Occurrence[]> {
    const query = count === undefined ? {} : { count }
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/schedules/${name}/next`,
      query,
      signal,
    })
  }

  /** It makes no more runs by itself. */
  pause(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
    const call = { method: 'POST', path: path`/job/api/schedules/${name}/pause`, safe: true } as const
    return this.#transport.value({ ...call, signal })
  }

  /** From its next occurrence on. */
  resume(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
    const call = { method: 'POST', path: path`/job/api/schedules/${name}/resume`, safe: true } as const
    return this.#transport.value({ ...call, signal })
  }

  /** Makes a run now. Not retried after a lost answer: it may have been made. */
  fire(name: string, { signal }: CallOptions = {}): Promise<Run> {
    return this.#transport.value({ method: 'POST', path: path`/job/api/schedules/${name}/fire`, signal })
  }

  /** The runs it has made stay. */
  delete(name: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/schedules/${name}`, signal })
  }
}
