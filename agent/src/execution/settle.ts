// Delivers an attempt's outcome and remaining output to the server, then removes its files and marks it settled.

import { stat } from 'node:fs/promises'
import type { Tell } from '../events.ts'
import { sendOutput } from '../output/send-output.ts'
import type { AttemptKey } from '../state/attempt-key.ts'
import type { Journal } from '../state/journal.ts'
import type { StateFolder } from '../state/state-folder.ts'
import { type AskDeps, ask } from '../transport/ask.ts'
import { type Answer, asObject } from '../transport/transport.ts'
import { openSpool } from './begin-start.ts'
import type { Outcome } from './outcome.ts'
import { detail, details } from './status-details.ts'

export type SettleDeps = AskDeps & {
  journal: Journal
  state: StateFolder
  maxOutputBytes: number
  tell: Tell
  /** Aborted when a stopping agent no longer waits for answers. */
  closing: AbortSignal
}

/** For an attempt that ended before the agent restarted. */
export async function sendKeptOutput(deps: SettleDeps, key: AttemptKey, signal: AbortSignal): Promise<void> {
  const paths = deps.state.pathsOf(key)
  const file = await stat(paths.output).catch(() => undefined)
  if (file === undefined || file.size === 0) return
  const spool = await openSpool(paths, deps.maxOutputBytes, deps.tell)
  try {
    await spool.end()
    await sendOutput(deps, spool, key, false, signal)
  } finally {
    await spool.close()
  }
}

/** Resolves when the server has stored the outcome, or said that the attempt is over. */
export async function report(deps: SettleDeps, key: AttemptKey, outcome: Outcome): Promise<void> {
  const { tell } = deps
  const { status } = outcome
  let answer = await sendOutcome(deps, key, outcome)
  // A report with fewer details is better than none: otherwise the execution would stay in progress forever.
  if (isStillWanted(answer) && outcome.result !== undefined) {
    const statusDetails = { ...outcome.statusDetails, resultProblem: detail(answer.message) }
    answer = await sendOutcome(deps, key, { status, statusDetails })
  }
  if (isStillWanted(answer)) {
    const reason = `${outcome.statusDetails.reason ?? status}; its report was refused: ${answer.message}`
    const plain = status === 'CANCELED' ? 'FAILED' : status
    const statusDetails = details({ agent: deps.journal.agentId, reason })
    answer = await sendOutcome(deps, key, { status: plain, statusDetails })
  }
  if (answer.outcome === 'accepted') tell({ kind: 'reported', ...key, status })
  else tell({ kind: 'not-wanted', ...key, message: answer.message })
  await markSettled(deps, key)
}

/** The attempt needs nothing more from this agent. */
export async function markSettled({ journal, state, tell }: SettleDeps, key: AttemptKey): Promise<void> {
  try {
    await journal.add({ kind: 'settled', ...key }, false)
    await state.remove(key)
  } catch (error) {
    // Settled anyway; after a restart it is reported once more, and the server refuses that.
    tell({ kind: 'disk-trouble', what: `execution ${key.jobId} cannot be removed from disk`, error })
  }
}

function sendOutcome(deps: SettleDeps, { jobId, attempt }: AttemptKey, outcome: Outcome): Promise<Answer> {
  return ask(deps, { name: 'update', jobId }, { ...outcome, executionNumber: attempt }, deps.closing)
}

type Rejected = Extract<Answer, { outcome: 'rejected' }>

/** Refused because of the report's content, not because the attempt is over. */
function isStillWanted(answer: Answer): answer is Rejected {
  if (answer.outcome === 'accepted') return false
  const { code, json } = answer
  if (code === 'InvalidRequest' || code === 'InvalidJson') return true
  return code === 'InvalidStateTransition' && asObject(json.executionState)?.status === 'IN_PROGRESS'
}
