// Windows: when work may be offered to devices.

import { path } from './path.ts'
import { resourceCalls } from './resource-calls.ts'
import type { ListWindowTimesQuery, WindowTimes } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Windows = ReturnType<typeof windowCalls>

export function windowCalls(transport: Transport) {
  return {
    ...resourceCalls(transport, 'windows'),

    /** When it is open: the current opening, if there is one, and the next ones. */
    next(
      windowName: string,
      query: Partial<ListWindowTimesQuery> = {},
      { signal }: CallOptions = {},
    ): Promise<WindowTimes> {
      const target = path`/job/api/windows/${windowName}/next`
      return transport.value({ method: 'GET', path: target, query, signal })
    },
  }
}
