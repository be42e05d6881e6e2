// Gets what an attempt came to, and the rest of its output, to the server; then it is forgotten but for its name.

import { stat } from 'node:fs/promises'
import { type AskDeps, ask } from './ask.ts'
import { openSpool } from './begin-start.ts'
import type { Tell } from './events.ts'
import type { Journal } from './journal.ts'
import type { Outcome } from './outcome.ts'
import { sendOutput } from './send-output.ts'
import type { StateFolder } from './state-folder.ts'
import { detail, details } from './status-details.ts'
import { type Answer, type AttemptKey, asObject } from './transport.ts'

export type SettleDeps = AskDeps & {
  journal: Journal
  state: StateFolder
  maxOutputBytes: number
  tell: Tell
  /** Aborted when the agent waits for no answer any more. */
  closing: AbortSignal
}

/** Of an attempt whose start ended in an earlier life of the agent. */
export async function sendKeptOutput(deps: SettleDeps, key: AttemptKey, signal: AbortSignal): Promise<void> {
  const paths = deps.state.pathsOf(key)
  const isThere = await stat(paths.output).catch(() => undefined)
  if (isThere === undefined || isThere.size === 0) return
  const spool = await openSpool(paths, deps.maxOutputBytes, deps.tell)
  try {
    await spool.end()
    await sendOutput(deps, spool, key, false, signal)
  } finally {
    await spool.close()
  }
}

/** Resolves when the server has it, or has said that it wants none. */
export async function report(deps: SettleDeps, key: AttemptKey, outcome: Outcome): Promise<void> {
  const { tell } = deps
  const { status } = outcome
  let answer = await sendOutcome(deps, key, outcome)
  // Better an end with less to say than none: else it would stay under way for ever.
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
  await forget(deps, key)
}

/** Nobody waits for it any more. */
export async function forget({ journal, state, tell }: SettleDeps, key: AttemptKey): Promise<void> {
  try {
    await journal.add({ kind: 'settled', ...key }, false)
    await state.remove(key)
  } catch (error) {
    // It is settled nevertheless; after a restart it is reported, and refused, once more.
    tell({ kind: 'disk-trouble', what: `execution ${key.jobId} cannot be put away`, error })
  }
}

function sendOutcome(deps: SettleDeps, { jobId, attempt }: AttemptKey, outcome: Outcome): Promise<Answer> {
  return ask(deps, { name: 'update', jobId }, { ...outcome, executionNumber: attempt }, deps.closing)
}

type Rejected = Extract<Answer, { outcome: 'rejected' }>

/** Refused for what the report says, not because the attempt is over. */
function isStillWanted(answer: Answer): answer is Rejected {
  if (answer.outcome === 'accepted') return false
  const { code, json } = answer
  if (code === 'InvalidRequest' || code === 'InvalidJson') return true
  return code === 'InvalidStateTransition' && asObject(json.executionState)?.status === 'IN_PROGRESS'
}
