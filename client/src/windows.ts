// Windows: when work may be offered to devices.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type Put, put, remove } from './put.ts'
import type { ListWindowsQuery, ListWindowTimesQuery, Window, WindowContent, WindowTimes } from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Windows {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates or replaces the window. It takes effect immediately, also for pending executions. */
  put(windowName: string, content: WindowContent, { signal }: CallOptions = {}): Promise<Put<Window>> {
    return put(this.#transport, { path: path`/job/api/windows/${windowName}`, body: content, signal })
  }

  get(windowName: string, { signal }: CallOptions = {}): Promise<Window> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/windows/${windowName}`, signal })
  }

  /** When it is open: the opening that goes on now, if there is one, and those that come next. */
  next(
    windowName: string,
    query: Partial<ListWindowTimesQuery> = {},
    { signal }: CallOptions = {},
  ): Promise<WindowTimes> {
    return this.#transport.value({
      method: 'GET',
      path: path`/job/api/windows/${windowName}/next`,
      query,
      signal,
    })
  }

  list(query: Query<ListWindowsQuery> = {}, options: CallOptions = {}): List<Window> {
    return new List(this.#transport, '/job/api/windows', query, options)
  }

  /** Rejected (J-315) while a job, a schedule or an unfinished run uses it. */
  delete(windowName: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/windows/${windowName}`, signal })
  }
}
