// Schedules, which create runs automatically.

import { path } from './path.ts'
import { resourceCalls } from './resource-calls.ts'
import type { Occurrence, Run, Schedule } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Schedules = ReturnType<typeof scheduleCalls>

export function scheduleCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'schedules'),

    /** Its next occurrences, ignoring a pause. `count`: by default 10, at most 100. */
    next(name: string, { count, signal }: CallOptions & { count?: number } = {}): Promise<Occurrence[]> {
      const query = count === undefined ? {} : { count }
      return transport.value({ method: 'GET', path: path`/job/api/schedules/${name}/next`, query, signal })
    },

    /** Stops creating runs automatically. */
    pause(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
      const target = path`/job/api/schedules/${name}/pause`
      return transport.value({ method: 'POST', path: target, safe: true, signal })
    },

    /** Resumes with the next occurrence. */
    resume(name: string, { signal }: CallOptions = {}): Promise<Schedule> {
      const target = path`/job/api/schedules/${name}/resume`
      return transport.value({ method: 'POST', path: target, safe: true, signal })
    },

    /** Creates a run now. Not retried after a lost response, because the run may exist. */
    fire(name: string, { signal }: CallOptions = {}): Promise<Run> {
      return transport.value({ method: 'POST', path: path`/job/api/schedules/${name}/fire`, signal })
    },
  }
}
