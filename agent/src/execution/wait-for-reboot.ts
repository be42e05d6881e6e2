// Holds an attempt that resumes after the next boot: until then nothing else starts, and it can be canceled.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../transport/ask.ts'
import { meansOver } from '../transport/transport.ts'
import { EarlyEnd } from './early-end.ts'
import type { Offered } from './offered.ts'
import type { RunDeps } from './run-execution.ts'
import { markSettled, report, type SettleDeps, sendKeptOutput } from './settle.ts'
import { details } from './status-details.ts'

/** Resolves when the agent stops or the attempt has ended. */
export async function waitForReboot(deps: RunDeps & SettleDeps, offered: Offered): Promise<void> {
  const key = { jobId: offered.jobId, attempt: offered.attempt }
  const { journal } = deps
  const early = new EarlyEnd(deps, offered, undefined)
  try {
    const reporting = reportReboot(deps, offered, early)
    await untilAborted(early.signal)
    await reporting
    switch (early.ending?.kind) {
      case 'withdrawn':
        return await markSettled(deps, key)
      case 'canceled':
        return await report(deps, key, {
          status: 'CANCELED',
          statusDetails: details({ agent: journal.agentId, reason: 'canceled before the reboot' }),
        })
      case 'time-limit':
        return await report(deps, key, {
          status: 'FAILED',
          statusDetails: details({ agent: journal.agentId, reason: 'the device did not reboot in time' }),
        })
    }
  } finally {
    early.close()
  }
}

/** Sends the output so far, and shows in statusDetails what the execution waits for. */
async function reportReboot(deps: RunDeps & SettleDeps, { jobId, attempt }: Offered, early: EarlyEnd) {
  try {
    await sendKeptOutput(deps, { jobId, attempt }, early.signal)
    const statusDetails = details({ agent: deps.journal.agentId, waitsFor: 'reboot' })
    const fields = { status: 'IN_PROGRESS', executionNumber: attempt, statusDetails }
    const answer = await ask(deps, { name: 'update', jobId }, fields, early.signal)
    if (answer.outcome === 'rejected' && meansOver(answer.code)) early.withdraw()
  } catch {
    // Canceled, or the agent is stopping.
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return sleep(2 ** 31 - 1, undefined, { signal }).catch(() => undefined)
}
