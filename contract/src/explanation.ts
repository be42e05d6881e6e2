// Why an execution is in its current state, for people and for programs.

import Type, { type Static } from 'typebox'
import { Execution } from './execution.ts'
import { Instant, orNull } from './text.ts'

export const explanationCodes = [
  'NOT_RELEASED',
  'RELEASE_FAILING',
  'RUN_PAUSED',
  'AWAITING_APPROVAL',
  'SCHEDULED',
  'FROZEN',
  'OUTSIDE_WINDOW',
  'WAITING_FOR_RETRY',
  'NOT_NOW',
  'DEVICE_NEVER_CONNECTED',
  'DEVICE_OFFLINE',
  'BEHIND_EXECUTION',
  'NOT_NOTIFIED_YET',
  'NOTIFIED',
  'DELIVERED',
  'RUNNING',
  'TIMER_FAILING',
  'CANCEL_REQUESTED',
  'ENDED',
] as const
export type ExplanationCode = (typeof explanationCodes)[number]

export const Explanation = Type.Object(
  {
    jobExecutionId: Execution.properties.jobExecutionId,
    execState: Execution.properties.execState,
    code: Type.Unsafe<ExplanationCode>({ type: 'string', enum: [...explanationCodes] }),
    text: Type.String({
      description: 'A sentence or two for a person; the wording may change',
      examples: [
        'Device kiosk-1 has been offline since 2026-11-15T09:30:00Z; it gets this when it connects.',
      ],
    }),
    since: orNull(Instant, { description: 'Since when' }),
    until: orNull(Instant, { description: 'When this changes on its own' }),
    expiresAt: orNull(Instant, {
      description:
        'While it is pending: when it ends on its own if its device does not start it, by `expireAfterSeconds` or ' +
        '`deadlineSeconds`. Neither runs while a window or a freeze holds it back. Null if it does not end, or if this cannot be known',
    }),
    behind: orNull(Type.Integer(), {
      description: 'jobExecutionId of the execution the device must finish first',
    }),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>
