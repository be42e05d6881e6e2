// When a run is offered to its devices, and a note: texts in form fields.

import { isJobcastError, type NewRun } from '@jobcast/client'
import { utcTime } from '../../parts/local-time.ts'

export type WhenDraft = {
  /** In the time zone of the browser; empty: now. */
  startAt: string
  window: string
  ignoreWindows: boolean
  note: string
  /** A digit; empty: the priority of the job. */
  priority: string
  replaces: boolean
}
type WhenField = 'startAt' | 'window' | 'note' | 'priority'

export const emptyWhen: WhenDraft = {
  startAt: '',
  window: '',
  ignoreWindows: false,
  note: '',
  priority: '',
  replaces: false,
}

const noteAtMost = 500

/** Only for valid drafts. */
export function whenOptions({
  startAt,
  window,
  ignoreWindows,
  note,
  priority,
  replaces,
}: WhenDraft): Pick<NewRun, 'startAt' | 'window' | 'ignoreWindows' | 'note' | 'priority' | 'replaces'> {
  return {
    ...(startAt && { startAt: utcTime(startAt) as string }),
    ...(ignoreWindows ? { ignoreWindows } : window && { window }),
    ...(note.trim() && { note: note.trim() }),
    ...(priority && { priority: Number(priority) }),
    ...(replaces && { replaces }),
  }
}

export function whenProblems({
  startAt,
  ignoreWindows,
  note,
}: WhenDraft): Partial<Record<WhenField, string>> {
  if (startAt !== '' && new Date(startAt).getTime() <= Date.now())
    return { startAt: 'Must be in the future.' }
  if (note.length > noteAtMost) return { note: `At most ${noteAtMost} characters.` }
  return ignoreWindows && note.trim() === '' ? { note: 'To ignore windows, give a reason.' } : {}
}

const fieldPaths: [string, WhenField][] = [
  ['startAt', 'startAt'],
  ['window', 'window'],
  ['ignoreWindows', 'window'],
  ['note', 'note'],
  ['priority', 'priority'],
]

/** The field that the server refuses, with the reason. */
export function refusedWhenField(error: unknown): { field: WhenField; text: string } | undefined {
  if (!isJobcastError(error)) return undefined
  const { code, field: path } = error
  const [, found] = fieldPaths.find(([start]) => path?.startsWith(start)) ?? []
  const field = code === 'J-311' ? 'window' : found
  return field && { field, text: `${error.detail ?? error.message} (${code})` }
}
