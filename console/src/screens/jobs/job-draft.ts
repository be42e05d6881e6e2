// The draft of a job, as texts in form fields.

import type { Job, JobContent } from '@jobcast/client'
import { parseDuration, writeDuration } from '../../parts/duration.ts'
import { findProblem } from '../../parts/json-field.tsx'
import {
  type EditedRollout,
  editedRolloutProblem,
  editRollout,
  rolloutOf,
} from '../../rollout/edited-rollout.ts'

export const maxDocumentBytes = 64 * 1024
export const maxParametersBytes = 16 * 1024
const yearSeconds = 31_536_000
const daySeconds = 86_400

type RetriedState = 'FAILED' | 'TIMED_OUT'

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
  rollout: EditedRollout
  approval: Job['approval']
  /** The name of a window; empty: at any time. */
  window: string
  /** A digit. */
  priority: string
  /** JSON; empty: no parameters. */
  parameters: string
  /** The edited version. */
  version: number | undefined
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
    rollout: editRollout(job?.rollout),
    approval: job?.approval ?? false,
    window: job?.window ?? '',
    priority: String(job?.priority ?? 5),
    version: job?.version,
    parameters: job?.parameters ? JSON.stringify(job.parameters, null, 2) : '',
  }
}

/** Only for valid drafts. */
export function contentOf(draft: JobDraft): JobContent {
  const rollout = rolloutOf(draft.rollout)
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
    ...(rollout && { rollout }),
    approval: draft.approval,
    ...(draft.window && { window: draft.window }),
    priority: Number(draft.priority),
    ...(draft.parameters.trim() && { parameters: JSON.parse(draft.parameters) }),
  }
}

/** Validates a duration; it may be empty. */
export function durationProblem(text: string): string | undefined {
  return text.trim() === '' ? undefined : rangeProblem(text, 1, yearSeconds)
}

export function backoffProblem(text: string): string | undefined {
  return rangeProblem(text, 0, daySeconds)
}

function rangeProblem(text: string, least: number, most: number): string | undefined {
  const seconds = parseDuration(text)
  if (seconds === undefined) return 'Use a format such as 90 s, 5 min, 2 h or 3 d.'
  if (seconds < least || seconds > most) {
    return `Must be ${writeDuration(least)} to ${writeDuration(most)}.`
  }
  return undefined
}

function optionalProblem(text: string, maxBytes: number): string | undefined {
  return text.trim() === '' ? undefined : findProblem(text, maxBytes)?.text
}

export function maxProblem(text: string): string | undefined {
  const max = Number(text)
  return Number.isInteger(max) && max >= 1 && max <= 100 ? undefined : 'Must be 1 to 100.'
}

export function problemOf(draft: JobDraft): string | undefined {
  const ofRetry = draft.isRetried
    ? (maxProblem(draft.retryMax) ??
      backoffProblem(draft.retryBackoff) ??
      (draft.retryOn.length === 0 ? 'Choose at least one state to retry.' : undefined))
    : undefined
  return (
    findProblem(draft.document, maxDocumentBytes)?.text ??
    durationProblem(draft.expireAfter) ??
    durationProblem(draft.timeout) ??
    durationProblem(draft.deadline) ??
    ofRetry ??
    optionalProblem(draft.parameters, maxParametersBytes) ??
    editedRolloutProblem(draft.rollout)
  )
}
