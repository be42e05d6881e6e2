// A job while it is being written: texts, as they stand in the fields.

import type { Job, JobContent } from '@jobcast/client'
import { parseDuration, writeDuration } from '../../parts/duration.ts'
import { findProblem } from '../../parts/json-field.tsx'

export const maxDocumentBytes = 64 * 1024
const yearSeconds = 31_536_000
const daySeconds = 86_400

export type RetriedState = 'FAILED' | 'TIMED_OUT'

export type JobDraft = {
  description: string
  document: string
  expireAfter: string
  timeout: string
  deadline: string
  isRetried: boolean
  retryMax: string
  retryBackoff: string
  retryOn: RetriedState[]
}

const firstDocument = { handler: 'restart', args: ['kiosk-app'] }

export function newDraft(job?: Job): JobDraft {
  const written = (seconds: number | null | undefined) => (seconds ? writeDuration(seconds) : '')
  return {
    description: job?.description ?? '',
    document: JSON.stringify(job?.document ?? firstDocument, null, 2),
    expireAfter: written(job?.expireAfterSeconds),
    timeout: written(job?.timeoutSeconds),
    deadline: written(job?.deadlineSeconds),
    isRetried: job?.retry != null,
    retryMax: String(job?.retry?.max ?? 2),
    retryBackoff: writeDuration(job?.retry?.backoffSeconds ?? 10),
    retryOn: [...(job?.retry?.on ?? (['FAILED', 'TIMED_OUT'] as const))].sort(),
  }
}

/** Of one that has no problem. */
export function contentOf(draft: JobDraft): JobContent {
  const seconds = (text: string) => parseDuration(text) as number
  return {
    description: draft.description,
    document: JSON.parse(draft.document),
    ...(draft.expireAfter.trim() && { expireAfterSeconds: seconds(draft.expireAfter) }),
    ...(draft.timeout.trim() && { timeoutSeconds: seconds(draft.timeout) }),
    ...(draft.deadline.trim() && { deadlineSeconds: seconds(draft.deadline) }),
    ...(draft.isRetried && {
      retry: {
        max: Number(draft.retryMax),
        backoffSeconds: seconds(draft.retryBackoff),
        on: draft.retryOn,
      },
    }),
  }
}

/** What is wrong with a span of time; an empty one is left out. */
export function clockProblem(text: string): string | undefined {
  return text.trim() === '' ? undefined : spanProblem(text, 1, yearSeconds)
}

export function backoffProblem(text: string): string | undefined {
  return spanProblem(text, 0, daySeconds)
}

function spanProblem(text: string, least: number, most: number): string | undefined {
  const seconds = parseDuration(text)
  if (seconds === undefined) return 'Write it as 90 s, 5 min, 2 h or 3 d.'
  if (seconds < least || seconds > most) {
    return `It must be ${writeDuration(least)} to ${writeDuration(most)}.`
  }
  return undefined
}

export function maxProblem(text: string): string | undefined {
  const max = Number(text)
  return Number.isInteger(max) && max >= 1 && max <= 100 ? undefined : 'It must be 1 to 100.'
}

export function problemOf(draft: JobDraft): string | undefined {
  const ofRetry = draft.isRetried
    ? (maxProblem(draft.retryMax) ??
      backoffProblem(draft.retryBackoff) ??
      (draft.retryOn.length === 0 ? 'Say which ends are tried again.' : undefined))
    : undefined
  return (
    findProblem(draft.document, maxDocumentBytes)?.text ??
    clockProblem(draft.expireAfter) ??
    clockProblem(draft.timeout) ??
    clockProblem(draft.deadline) ??
    ofRetry
  )
}
