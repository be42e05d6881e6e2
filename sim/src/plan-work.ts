// What a device will do with an execution, decided when it starts: its output, its progress reports, and its end.

import type { Chance } from './chance.ts'
import type { EndStatus } from './fleet-event.ts'
import type { Pattern } from './pattern.ts'

export type End = { status: EndStatus; statusDetails: Record<string, string>; result?: object }

export type Step =
  | { afterMs: number; kind: 'write'; text: string }
  | { afterMs: number; kind: 'progress'; percent: number }
  | { afterMs: number; kind: 'end'; end: End }

const activities = ['preparing', 'fetching what is needed', 'applying', 'checking', 'cleaning up']
const failures = [
  'disk full',
  'no network',
  'checksum mismatch',
  'out of memory',
  'permission denied',
  'battery too low',
]
const refusals = ['not supported by this model', 'outside of the maintenance window', 'switched to manual']

/** In chronological order; the last one is the end. */
export function planWork(pattern: Pattern, chance: Chance): Step[] {
  const workMs = Math.round(chance.within(pattern.workSeconds) * 1000)
  const luck = chance.fraction()
  // A device that rejects an execution does no work on it.
  if (luck < pattern.rejectRate) return [endAfter(0, 'REJECTED', chance.pick(refusals))]
  const end =
    luck < pattern.rejectRate + pattern.failureRate
      ? endAfter(workMs, 'FAILED', chance.pick(failures))
      : success(workMs)
  return [...writing(pattern.outputLines, workMs), halfway(workMs), end].sort(
    (one, other) => one.afterMs - other.afterMs,
  )
}

function writing(lines: number, workMs: number): Step[] {
  return Array.from({ length: lines }, (_, index) => {
    const activity = activities[index % activities.length]
    const text = `[${index + 1}/${lines}] ${activity}\n`
    return { afterMs: (workMs * index) / lines, kind: 'write', text }
  })
}

function halfway(workMs: number): Step {
  return { afterMs: workMs / 2, kind: 'progress', percent: 50 }
}

function success(afterMs: number): Step {
  const end: End = { status: 'SUCCEEDED', statusDetails: { progress: '100' }, result: { workedMs: afterMs } }
  return { afterMs, kind: 'end', end }
}

function endAfter(afterMs: number, status: EndStatus, reason: string): Step {
  return { afterMs, kind: 'end', end: { status, statusDetails: { reason } } }
}
