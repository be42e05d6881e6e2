// The window under which a run is offered.

import { ApiError, type NewRun } from '@jobcast/contract'
import { requireScope } from '../access/access.ts'
import type { Caller } from '../access/caller.ts'
import type { StoredJobContent } from '../job/ports/jobs.ts'
import { anyTime } from './any-time.ts'
import { requireWindow, type WindowDeps } from './window.ts'

/** `anyTime`: it ignores windows, null: it has none, undefined: as its job says. */
export type RunWindow = { window?: string | null | undefined }
type AskedWindow = Pick<NewRun, 'window' | 'ignoreWindows' | 'note'>

/** The store looks again whether there is such a window (J-311). */
export async function windowForRun(
  deps: Pick<WindowDeps, 'store'>,
  caller: Caller,
  job: Pick<StoredJobContent, 'window'>,
  asked: AskedWindow,
): Promise<RunWindow> {
  const window = askedWindow(caller, job, asked)
  if (window) await requireWindow(deps, caller, window)
  return { window }
}

function askedWindow(
  caller: Caller,
  job: Pick<StoredJobContent, 'window'>,
  { window, ignoreWindows, note }: AskedWindow,
): string | null | undefined {
  // Another window than that of its job is a way around it.
  const isReplaced = window !== undefined && job.window !== undefined && window !== job.window
  if (ignoreWindows || isReplaced) requireScope(caller, 'MANAGE')
  if (!ignoreWindows) return window
  const invalid = (field: string, detail: string) => new ApiError('J-500', { field, detail })
  if (window !== undefined) throw invalid('window', 'window and ignoreWindows cannot be combined.')
  if (!note?.trim()) throw invalid('note', 'ignoreWindows requires a note with the reason.')
  return anyTime
}
