// An attempt that goes on after the next boot: until then nothing else is started, and it can be canceled.

import { setTimeout as rest } from 'node:timers/promises'
import { ask } from './ask.ts'
import { EarlyEnd } from './early-end.ts'
import type { Offered } from './offered.ts'
import type { RunDeps } from './run-execution.ts'
import { forget, report, type SettleDeps, sendKeptOutput } from './settle.ts'
import { details } from './status-details.ts'
import { meansOver } from './transport.ts'

/** Resolves when the agent stops, or when there is nothing to wait for any more. */
export async function waitForReboot(deps: RunDeps & SettleDeps, offered: Offered): Promise<void> {
  const key = { jobId: offered.jobId, attempt: offered.attempt }
  const { journal } = deps
  const early = new EarlyEnd(deps, offered, undefined)
  try {
    const telling = tellOfReboot(deps, offered, early)
    await untilAborted(early.signal)
    await telling
    switch (early.ending?.kind) {
      case 'withdrawn':
        return await forget(deps, key)
      case 'canceled':
        return await report(deps, key, {
          status: 'CANCELED',
          statusDetails: details({ agent: journal.agentId, reason: 'canceled before the reboot' }),
        })
      case 'time-limit':
        return await report(deps, key, {
          status: 'FAILED',
          statusDetails: details({ agent: journal.agentId, reason: 'the reboot did not come in time' }),
        })
    }
  } finally {
    early.close()
  }
}

/** What was printed so far is sent, and owners see what it waits for. */
async function tellOfReboot(deps: RunDeps & SettleDeps, { jobId, attempt }: Offered, early: EarlyEnd) {
  try {
    await sendKeptOutput(deps, { jobId, attempt }, early.signal)
    const statusDetails = details({ agent: deps.journal.agentId, waitsFor: 'reboot' })
    const fields = { status: 'IN_PROGRESS', executionNumber: attempt, statusDetails }
    const answer = await ask(deps, { name: 'update', jobId }, fields, early.signal)
    if (answer.outcome === 'rejected' && meansOver(answer.code)) early.withdraw()
  } catch {
    // It was canceled, or the agent stops.
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return rest(2 ** 31 - 1, undefined, { signal }).catch(() => undefined)
}
