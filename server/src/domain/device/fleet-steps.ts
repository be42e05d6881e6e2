// Adds up state changes per time step.

import type { ExecState } from '@jobcast/contract'
import { isActive } from '../execution/execution.ts'
import type { Flow } from './ports/fleet.ts'

export const stepMs = 5 * 60_000
export const stepsPerDay = (24 * 60 * 60_000) / stepMs

/** One time step; `waiting` and `running` are changes of these counts. `failed` counts all end states except SUCCEEDED and CANCELED. */
export type Step = { waiting: number; running: number; succeeded: number; failed: number }

const countedAsFailed: readonly ExecState[] = ['FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED']

export function emptyStep(): Step {
  return { waiting: 0, running: 0, succeeded: 0, failed: 0 }
}

export function addFlow(steps: Map<number, Step>, { stepNo, from, to, count }: Flow): void {
  const step = steps.get(stepNo) ?? emptyStep()
  steps.set(stepNo, step)
  step.waiting += count * (Number(to === 'PENDING') - Number(from === 'PENDING'))
  step.running += count * (Number(isActive(to)) - Number(from !== null && isActive(from)))
  if (to === 'SUCCEEDED') step.succeeded += count
  if (countedAsFailed.includes(to)) step.failed += count
}
