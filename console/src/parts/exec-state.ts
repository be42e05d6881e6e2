// Colour, icon and word of every state, the same on all screens. A tone is a colour; icons and words differ as well.

import type { ExecState } from '@jobcast/client'
import type { IconName } from './icon.tsx'

export type Tone = 'waiting' | 'running' | 'good' | 'bad' | 'off'

type StateStyle = { tone: Tone; icon: IconName; word: string }

export const stateStyles: Record<ExecState, StateStyle> = {
  PENDING: { tone: 'waiting', icon: 'waiting', word: 'waiting' },
  IN_PROGRESS: { tone: 'running', icon: 'running', word: 'running' },
  CANCELING: { tone: 'running', icon: 'off', word: 'canceling' },
  SUCCEEDED: { tone: 'good', icon: 'good', word: 'succeeded' },
  FAILED: { tone: 'bad', icon: 'bad', word: 'failed' },
  TIMED_OUT: { tone: 'bad', icon: 'late', word: 'timed out' },
  REJECTED: { tone: 'bad', icon: 'refused', word: 'rejected' },
  EXPIRED: { tone: 'bad', icon: 'late', word: 'expired' },
  CANCELED: { tone: 'off', icon: 'off', word: 'canceled' },
}

/** The order of states in bars: failures first. */
export const stateOrder: readonly ExecState[] = [
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
  'EXPIRED',
  'SUCCEEDED',
  'IN_PROGRESS',
  'CANCELING',
  'PENDING',
  'CANCELED',
]

/** End states other than success and cancellation. */
export const failedStates = stateOrder.filter((state) => stateStyles[state].tone === 'bad')

export type Counts = Record<ExecState, number>

export function failuresOf(counts: Counts): number {
  return stateOrder.reduce((sum, state) => (stateStyles[state].tone === 'bad' ? sum + counts[state] : sum), 0)
}

/** An execution of the run has reached its device. */
export function hasBegun({ counts, total }: { counts: Counts; total: number }): boolean {
  return counts.PENDING < total
}

/** "3 failed, 312 succeeded, 25 waiting" */
export function countsInWords(counts: Counts, states = stateOrder): string {
  return states
    .filter((state) => counts[state] > 0)
    .map((state) => `${formatCount(counts[state])} ${stateStyles[state].word}`)
    .join(', ')
}

const wholeNumbers = new Intl.NumberFormat('en')

export function formatCount(count: number): string {
  return wholeNumbers.format(count)
}
