// Schedules: create runs automatically.

import { path } from './path.ts'
import { resourceCalls } from './resource-calls.ts'
import type { Occurrence, Run, Schedule } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Schedules = ReturnType<typeof scheduleCalls>

export function scheduleCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'schedules'),

    /** Its next occurrences, at most `count` (10, up to 100), as if it were not paused. */
    next(name: string, { count, signal }: CallOptions & { count?: number } = {}): Promise<Occurrence[]> {
      const query = count === undefined ? {} : { count }
      return transport.value({ method: 'GET', path: path`/job/api/schedules/${name}/next`, query, signal })
    },

    /** It makes no more runs by itself. */
    pause(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
      const target = path`/job/api/schedules/${name}/pause`
      return transport.value({ method: 'POST', path: target, safe: true, signal })
    },

    /** From its next occurrence on. */
    resume(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
      const target = path`/job/api/schedules/${name}/resume`
      return transport.value({ method: 'POST', path: target, safe: true, signal })
    },

    /** Makes a run now. Not retried after a lost answer: it may have been made. */
    fire(name: string, { signal }: CallOptions = {}): Promise<Run> {
      return transport.value({ method: 'POST', path: path`/job/api/schedules/${name}/fire`, signal })
    },
  }
}
