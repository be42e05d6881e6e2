// Why a schedule is paused.

import Type, { type Static } from 'typebox'
import { type ExecState, execStates } from './exec-state.ts'
import { orNull } from './text.ts'

const schedulePauseRules = [
  ...(['STOP_RULE', 'FAILURES', 'RUN_STOPPED', 'REFUSED'] as const),
  ...(['JOB_DELETED', 'KEY_REVOKED', 'PRINCIPAL'] as const),
] as const

export const SchedulePauseRule = Type.Unsafe<(typeof schedulePauseRules)[number]>({
  type: 'string',
  enum: [...schedulePauseRules],
  description:
    'STOP_RULE of its rollout, over its runs of the last 24 hours; FAILURES: `pauseAfterFailures` runs in a row; RUN_STOPPED: ' +
    'its last run was aborted or denied; REFUSED: its run cannot be created; JOB_DELETED; KEY_REVOKED with its descendants; ' +
    'PRINCIPAL: paused by pausedBy',
})

/** The cause that `pausedBecause` describes in words. */
export const SchedulePause = Type.Object(
  {
    rule: SchedulePauseRule,
    stopRule: orNull(Type.Integer(), { description: 'Its position in rollout.stop, from 1' }),
    on: Type.Array(Type.Unsafe<ExecState>({ type: 'string', enum: [...execStates] }), {
      description: 'The states that the stop rule counts',
    }),
    count: orNull(Type.Integer(), {
      description:
        'How many executions have ended in one of these states; with FAILURES, how many runs have failed',
    }),
    ended: orNull(Type.Integer(), { description: 'How many executions have ended in total' }),
    percent: orNull(Type.Number(), { description: 'count of ended' }),
  },
  { title: 'SchedulePause' },
)
export type SchedulePause = Static<typeof SchedulePause>
