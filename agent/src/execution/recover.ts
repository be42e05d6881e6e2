// After a crash or a reboot: ends leftover processes and records interrupted attempts.

import type { Tell } from '../events.ts'
import { endLeftovers } from '../process/leftovers.ts'
import type { Journal } from '../state/journal.ts'
import type { Entry } from '../state/journal-records.ts'
import type { StateFolder } from '../state/state-folder.ts'
import { failure, type Outcome } from './outcome.ts'

type RecoverDeps = {
  journal: Journal
  state: StateFolder
  bootId: string
  graceMs: number
  tell: Tell
}

/** Limit on starts of one attempt, including reboots and reruns. */
export const maxStarts = 10

/** Runs before the first request. An attempt that may start again is left alone until the server hands it out. */
export async function recover({ journal, state, bootId, graceMs, tell }: RecoverDeps): Promise<void> {
  try {
    await state.removeOthers(journal.unsettled())
    for (const entry of journal.unsettled()) {
      if (entry.phase !== 'started') continue
      const { jobId, attempt } = entry
      const groups = await endLeftovers(entry, bootId, graceMs)
      if (groups.length > 0) tell({ kind: 'leftovers-ended', jobId, attempt, groups })
      if (mayStartAgain(entry)) continue
      await journal.add(
        { kind: 'finished', jobId, attempt, outcome: interrupted(entry, journal.agentId) },
        true,
      )
    }
  } catch (error) {
    tell({ kind: 'disk-trouble', what: 'interrupted executions cannot be recorded', error })
  }
}

/** Whether an attempt that began before the agent restarted is started again. */
export function mayStartAgain({ phase, onInterrupt, start }: Entry): boolean {
  const mayRerun = phase === 'started' && onInterrupt === 'rerun'
  return (phase === 'rebooting' || mayRerun) && start < maxStarts
}

export function interrupted({ start }: Entry, agentId: string): Outcome {
  const starts = start > 1 ? start : undefined
  return failure('interrupted: the agent stopped while it ran', { agent: agentId, starts })
}
