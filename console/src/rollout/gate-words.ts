// Short descriptions of the conditions of a gate, and of the unmet ones.

import { writeDuration } from '../parts/duration.ts'
import { formatCount } from '../parts/exec-state.ts'
import type { Rollout } from './rollout-draft.ts'

type Next = Rollout['next']

/** All conditions of a future gate: "95 % must report fw=2.4.1", "soak 1 h", "then awaits approval". */
export function needsOfGate(next: Next = {}): string[] {
  const { succeededPercent = 100, where, soakSeconds } = next
  return [
    `${succeededPercent} % must ${where === undefined ? 'succeed' : `report ${where}`}`,
    ...(soakSeconds === undefined ? [] : [`soak ${writeDuration(soakSeconds)}`]),
    ...thenOf(next),
  ]
}

type Progress = { needed: number; succeeded: number; possible: number; offline: number }

/** "7 of 10 report fw=2.4.1", "1 offline", "soak 00:41:12 left", "then awaits approval" */
export function waitsOfGate(next: Next = {}, gate: Progress, leftMs: number | undefined): string[] {
  const { where, soakSeconds } = next
  const done = where === undefined ? 'succeeded' : `report ${where}`
  return [
    `${formatCount(gate.succeeded)} of ${formatCount(gate.needed)} ${done}`,
    ...(gate.possible < gate.needed ? [`only ${formatCount(gate.possible)} still can`] : []),
    ...(gate.offline > 0 ? [`${formatCount(gate.offline)} offline`] : []),
    ...(leftMs !== undefined
      ? [`soak ${countdown(leftMs)} left`]
      : soakSeconds === undefined
        ? []
        : [`soak ${writeDuration(soakSeconds)}`]),
    ...thenOf(next),
  ]
}

function thenOf({ action, giveUpAfterSeconds }: NonNullable<Next>): string[] {
  return [
    ...(action === 'APPROVAL' ? ['then awaits approval'] : action === 'PAUSE' ? ['then pauses'] : []),
    ...(giveUpAfterSeconds === undefined
      ? []
      : [`pauses if closed for ${writeDuration(giveUpAfterSeconds)}`]),
  ]
}

/** "00:41:12" */
function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
