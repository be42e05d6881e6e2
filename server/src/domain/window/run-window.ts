// The window under which a run is offered.

import { ApiError, type NewRun } from '@jobcast/contract'
import { requireScope } from '../access/access.ts'
import type { Caller } from '../access/caller.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { anyTime } from './any-time.ts'
import { requireWindow, type WindowDeps } from './window.ts'

/** `anyTime`: it ignores windows, null: it has none, undefined: as the job defines. */
export type RunWindow = { window?: string | null | undefined }
type RequestedWindow = Pick<NewRun, 'window' | 'ignoreWindows' | 'note'>

/** The store checks again that the window exists (J-311). */
export async function windowForRun(
  deps: Pick<WindowDeps, 'store'>,
  caller: Caller,
  job: Pick<StoredJobContent, 'window'>,
  asked: RequestedWindow,
): Promise<RunWindow> {
  const window = requestedWindow(caller, job, asked)
  if (window) await requireWindow(deps, caller, window)
  return { window }
}

function requestedWindow(
  caller: Caller,
  job: Pick<StoredJobContent, 'window'>,
  { window, ignoreWindows, note }: RequestedWindow,
): string | null | undefined {
  // Choosing another window circumvents the job's window, so it needs MANAGE, too.
  const isReplaced = window !== undefined && job.window !== undefined && window !== job.window
  if (ignoreWindows || isReplaced) requireScope(caller, 'MANAGE')
  if (!ignoreWindows) return window
  const invalid = (field: string, detail: string) => new ApiError('J-500', { field, detail })
  if (window !== undefined) throw invalid('window', 'window and ignoreWindows cannot be combined.')
  if (!note?.trim()) throw invalid('note', 'ignoreWindows requires a note with the reason.')
  return anyTime
}
