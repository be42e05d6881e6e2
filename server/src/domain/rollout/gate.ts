// What the gate after a wave needs, and whether it can still open.

import type { Rollout } from '@jobcast/contract'
import { type ExecState, execStates } from '@jobcast/contract/words'
import { isTerminal, unsuccessfulEnds } from '../execution/execution.ts'
import { countOfShare } from './percent.ts'

export type EndedCounts = Partial<Record<ExecState, number>>

export const ends = execStates.filter(isTerminal)

/** Strict by default: one device that does not succeed holds back the next wave. */
const defaultSucceededPercent = 100

type WaveFacts = {
  size: number
  /** Counts of the wave. */
  wave: EndedCounts
  /** Succeeded devices whose reported attributes match `next.where`. */
  confirmed: number
  /** Unsuccessful executions that were accepted by resuming the run, and are no longer counted. */
  accepted: number
}

export type Gate = {
  percent: number
  /** How many devices are counted. */
  size: number
  /** How many of them must succeed, have succeeded, and can succeed at most. */
  needed: number
  succeeded: number
  possible: number
  unsuccessful: number
}

export function gateOf({ next }: Rollout, { size, wave, confirmed, accepted }: WaveFacts): Gate {
  const percent = next?.succeededPercent ?? defaultSucceededPercent
  const counted = Math.max(0, size - accepted)
  const unsuccessful = Math.max(0, countIn(unsuccessfulEnds, wave) - accepted)
  return {
    percent,
    size: counted,
    needed: countOfShare(percent, counted),
    succeeded: next?.where === undefined ? (wave.SUCCEEDED ?? 0) : confirmed,
    // A device that has succeeded may still report what the gate asks for.
    possible: counted - unsuccessful,
    unsuccessful,
  }
}

/** The gate asks for less than before, or for another selector. */
export function opensMoreEasily(before: Rollout['next'] = {}, after: Rollout['next'] = {}): boolean {
  const shareOf = ({ succeededPercent = defaultSucceededPercent }: typeof before) => succeededPercent
  return (
    shareOf(after) < shareOf(before) ||
    (after.soakSeconds ?? 0) < (before.soakSeconds ?? 0) ||
    (before.where !== undefined && after.where !== before.where)
  )
}

export function countIn(states: readonly ExecState[], counts: EndedCounts): number {
  return states.reduce((total, state) => total + (counts[state] ?? 0), 0)
}
