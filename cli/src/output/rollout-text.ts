// A rollout as text: its rules and its progress.

import type { NewRun, Run } from '@jobcast/client'
import { elapsedText } from '../flags/wait-time.ts'
import { localTime } from './local-time.ts'

type Rollout = NonNullable<NewRun['rollout']>
type StopRule = NonNullable<Rollout['stop']>[number]

/** The rollout fields of a plan. */
export function ruleFields({ ratePerMinute, maxUnderWay, budget, next, stop }: Rollout, waves: number) {
  const { succeededPercent = 100, where, soakSeconds, action } = next ?? {}
  const reported = where === undefined ? '' : ` and report ${where}`
  const then = action === undefined || action === 'CONTINUE' ? '' : `, then ${action}`
  return {
    ...(ratePerMinute !== undefined && { rate: `${ratePerMinute} per minute` }),
    ...(maxUnderWay !== undefined && { 'in flight': `at most ${maxUnderWay}` }),
    ...(budget && { budget: `at most ${budget.max} in flight per ${budget.by}` }),
    ...(waves > 1 && { gate: `${succeededPercent} % of a wave SUCCEEDED${reported}${then}` }),
    ...(soakSeconds !== undefined && { soak: `${elapsedText(soakSeconds * 1000)} after each wave` }),
    ...(stop && stop.length > 0 && { stop: stop.map(stopText).join('; ') }),
  }
}

type Progress = NonNullable<Run['rollout']>

/** What the rollout waits for, and how close its stop rules are. */
export function progressFields({ gate, stopRules, definition }: Progress) {
  const { next, stop = [] } = definition
  return {
    ...(gate && { gate: gateText(gate, next?.where) }),
    ...(stop.length > 0 && {
      stop: stop
        .map((rule, index) => {
          const { count, ended } = stopRules[index] ?? { count: 0, ended: 0 }
          return `${count} of ${ended} ended, ${stopText(rule)}`
        })
        .join('; '),
    }),
  }
}

/** 7 of 10 SUCCEEDED and report fw=2.4.1, 1 offline */
function gateText(
  { succeeded, needed, offline, opensAt }: NonNullable<Progress['gate']>,
  where: string | undefined,
): string {
  const reported = where === undefined ? '' : ` and report ${where}`
  const away = offline === 0 ? '' : `, ${offline} offline`
  const opens = opensAt === null ? '' : `, opens at ${localTime(opensAt)}`
  return `${succeeded} of ${needed} SUCCEEDED${reported}${away}${opens}`
}

/** PAUSE at 5 % FAILED, TIMED_OUT or REJECTED, after 20 */
function stopText({ on, percent, count, minEnded, action = 'PAUSE', of }: StopRule): string {
  const states = on.length === 1 ? on[0] : `${on.slice(0, -1).join(', ')} or ${on.at(-1)}`
  const share = count === undefined ? `${percent} %` : String(count)
  const after = minEnded === undefined ? '' : ` once ${minEnded} have ended`
  return `${action} at ${share} ${states}${of === 'WAVE' ? ' of a wave' : ''}${after}`
}

/** A cell of a table: PAUSED 1/3, or an empty one. */
export function rolloutCell({ rollout }: Run): string {
  if (rollout === null) return ''
  const { state, wave, waves } = rollout
  return waves.length > 1 ? `${state} ${wave}/${waves.length}` : state
}
