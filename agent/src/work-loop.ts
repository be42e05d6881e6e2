// The agent's day: report what has ended, take what is next, carry it out. One execution at a time.

import { setTimeout as rest } from 'node:timers/promises'
import { ask } from './ask.ts'
import { type CarryOutDeps, carryOut } from './carry-out.ts'
import { keyOf } from './journal-records.ts'
import { type Offered, parseOffered } from './offered.ts'
import { reconnectDelayMs } from './reconnect-delay.ts'
import { forget, report, sendKeptOutput } from './settle.ts'
import { type AttemptKey, asObject, isAnother } from './transport.ts'

/** Resolves when the agent is to stop. */
export async function workLoop(deps: CarryOutDeps): Promise<void> {
  const { stopping, closing, backoff, tell } = deps
  let failures = 0
  let lastKey = ''
  while (!stopping.aborted) {
    try {
      await settleFinished(deps)
      const offered = await takeNext(deps)
      await forgetOthers(deps, offered)
      if (offered === undefined) {
        await deps.transport.waitForWork(stopping)
        lastKey = ''
      } else {
        // The same once more: the server does not take our word for its end. Patience keeps that from being a storm.
        failures = keyOf(offered) === lastKey ? failures + 1 : 0
        if (failures > 0) await rest(reconnectDelayMs(failures, backoff), undefined, { signal: stopping })
        lastKey = keyOf(offered)
        await carryOut(deps, offered)
      }
    } catch (error) {
      if (stopping.aborted || closing.aborted) return
      tell({ kind: 'fault', error })
      failures++
      await rest(reconnectDelayMs(failures, backoff), undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

/** Of an earlier life, or of a report that a stop cut short. */
async function settleFinished(deps: CarryOutDeps): Promise<void> {
  for (const { jobId, attempt, queuedAt, outcome } of deps.journal.unsettled()) {
    if (outcome === undefined) continue
    const key = { jobId, attempt, queuedAt }
    if (await isOfAnotherService(deps, key)) await forget(deps, key)
    else {
      await sendKeptOutput(deps, key, deps.closing)
      await report(deps, key, outcome)
    }
  }
}

/** The service has an execution of this number, and it is not the one that was carried out. */
async function isOfAnotherService(deps: CarryOutDeps, key: AttemptKey): Promise<boolean> {
  if (key.queuedAt === undefined) return false
  const fields = { executionNumber: key.attempt, includeJobDocument: false }
  const answer = await ask(deps, { name: 'describe', jobId: key.jobId }, fields, deps.closing)
  const queuedAt = asObject(answer.json.execution)?.queuedAt
  return typeof queuedAt === 'number' && isAnother(key, { queuedAt })
}

/** Whoever begins it leaves its name: so nobody else begins it again, and we know it again. */
async function takeNext(deps: CarryOutDeps): Promise<Offered | undefined> {
  const fields = { statusDetails: { agent: deps.journal.agentId } }
  const answer = await ask(deps, { name: 'start-next' }, fields, deps.stopping)
  if (answer.outcome === 'rejected') throw new Error(`start-next was refused: ${answer.message}`)
  return parseOffered(answer.json, performance.now())
}

/** What is under way is handed out first: what is not handed out is not under way any more, whatever we waited for. */
async function forgetOthers(deps: CarryOutDeps, offered: Offered | undefined): Promise<void> {
  for (const entry of deps.journal.unsettled()) {
    if (offered === undefined || keyOf(entry) !== keyOf(offered)) await forget(deps, entry)
  }
}
