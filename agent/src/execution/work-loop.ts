// The agent's main loop: report what has ended, take the next execution, carry it out. One execution at a time.
//
// This folder is the path of an execution on a device. Read next: carry-out.ts, what its journal entry says to do;
// run-execution.ts, one start of an attempt, with run-steps.ts and run-step.ts; early-end.ts, what ends it early;
// judge-run.ts and outcome.ts, its status; settle.ts, the report; recover.ts, after a crash.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AttemptKey, isAnother } from '../state/attempt-key.ts'
import { keyOf } from '../state/journal-records.ts'
import { ask } from '../transport/ask.ts'
import { reconnectDelayMs } from '../transport/reconnect-delay.ts'
import { asObject } from '../transport/transport.ts'
import { type CarryOutDeps, carryOut } from './carry-out.ts'
import { type Offered, parseOffered } from './offered.ts'
import { markSettled, report, sendKeptOutput } from './settle.ts'

/** Resolves when the agent is to stop. */
export async function workLoop(deps: CarryOutDeps & { onCarriedOut: () => void }): Promise<void> {
  const { stopping, closing, backoff, tell } = deps
  let failures = 0
  let lastKey = ''
  while (!stopping.aborted) {
    try {
      await settleFinished(deps)
      const offered = await takeNext(deps)
      await settleOthers(deps, offered)
      if (offered === undefined) {
        await deps.transport.waitForWork(stopping)
        lastKey = ''
      } else {
        // The server hands out the same attempt again although it was reported: back off instead of looping.
        failures = keyOf(offered) === lastKey ? failures + 1 : 0
        if (failures > 0) await sleep(reconnectDelayMs(failures, backoff), undefined, { signal: stopping })
        lastKey = keyOf(offered)
        await carryOut(deps, offered)
        deps.onCarriedOut()
      }
    } catch (error) {
      if (stopping.aborted || closing.aborted) return
      tell({ kind: 'fault', error })
      failures++
      await sleep(reconnectDelayMs(failures, backoff), undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

/** Reports outcomes from before a restart, and those whose report was interrupted by a stop. */
async function settleFinished(deps: CarryOutDeps): Promise<void> {
  for (const { jobId, attempt, queuedAt, outcome } of deps.journal.unsettled()) {
    if (outcome === undefined) continue
    const key = { jobId, attempt, queuedAt }
    if (await isOfAnotherService(deps, key)) await markSettled(deps, key)
    else {
      await sendKeptOutput(deps, key, deps.closing)
      await report(deps, key, outcome)
    }
  }
}

/** The server has a different execution under this number. */
async function isOfAnotherService(deps: CarryOutDeps, key: AttemptKey): Promise<boolean> {
  if (key.queuedAt === undefined) return false
  const fields = { executionNumber: key.attempt, includeJobDocument: false }
  const answer = await ask(deps, { name: 'describe', jobId: key.jobId }, fields, deps.closing)
  const queuedAt = asObject(answer.json.execution)?.queuedAt
  return typeof queuedAt === 'number' && isAnother(key, { queuedAt })
}

/** Records the agent's id with the start, so that no other agent starts the execution again. */
async function takeNext(deps: CarryOutDeps): Promise<Offered | undefined> {
  const fields = { statusDetails: { agent: deps.journal.agentId } }
  const answer = await ask(deps, { name: 'start-next' }, fields, deps.stopping)
  if (answer.outcome === 'rejected') throw new Error(`start-next was refused: ${answer.message}`)
  return parseOffered(answer.json, performance.now())
}

/** The server hands out what is in progress first, so any other unsettled attempt is over. */
async function settleOthers(deps: CarryOutDeps, offered: Offered | undefined): Promise<void> {
  for (const entry of deps.journal.unsettled()) {
    if (offered === undefined || keyOf(entry) !== keyOf(offered)) await markSettled(deps, entry)
  }
}
