// Decides what to do with an execution that the server hands out, depending on its journal entry.

import { Refused } from '../document/document-fields.ts'
import { planWork } from '../document/plan-work.ts'
import type { DeviceRules } from '../document/step.ts'
import { type WantedFile, wantedFiles } from '../files/wanted-files.ts'
import { findHandler } from '../handler/find-handler.ts'
import { type AttemptKey, isAnother } from '../state/attempt-key.ts'
import type { Entry } from '../state/journal-records.ts'
import type { Trust } from '../trust/trust.ts'
import type { Start } from './begin-start.ts'
import type { Offered } from './offered.ts'
import { failure, type Outcome, refusal, waitOf } from './outcome.ts'
import { interrupted, mayStartAgain } from './recover.ts'
import { type RunDeps, runExecution } from './run-execution.ts'
import { markSettled, report, type SettleDeps } from './settle.ts'
import { waitForReboot } from './wait-for-reboot.ts'

export type CarryOutDeps = RunDeps &
  SettleDeps & {
    rules: DeviceRules
    /** Undefined: the device trusts its server. */
    trust: Trust | undefined
  }

export async function carryOut(deps: CarryOutDeps, offered: Offered): Promise<void> {
  const key = { jobId: offered.jobId, attempt: offered.attempt, queuedAt: offered.queuedAt }
  const { journal, bootId } = deps
  const found = journal.get(key)
  const isOther = found !== undefined && isAnother(found, offered)
  if (isOther) await markSettled(deps, found)
  const known = isOther ? undefined : found
  const waited = known?.outcome === undefined ? known?.waited : waitOf(known.outcome)
  // The attempt ended as "not now", and the server hands it out again: start it as if for the first time.
  const isAgain = known?.phase === 'settled' && known.outcome !== undefined && waited !== undefined
  const before = isAgain ? undefined : known
  // Already ended, but the server still hands it out: report it again instead of starting it.
  if (before?.outcome) return report(deps, key, before.outcome)
  if (before === undefined && offered.begunBy !== journal.agentId) {
    return refuse(deps, key, begunByAnother(offered))
  }
  if (before?.phase === 'rebooting' && before.bootId === bootId) return waitForReboot(deps, offered)
  if (before && !mayStartAgain(before)) return refuse(deps, key, interrupted(before, journal.agentId))

  const prepared = await prepare(deps, offered, before)
  if ('refused' in prepared) return refuse(deps, key, prepared.refused)
  const end = await runExecution(deps, { before, waited, ...prepared })
  switch (end.kind) {
    case 'finished':
      return report(deps, key, end.outcome)
    case 'withdrawn':
      return markSettled(deps, key)
    case 'rebooting':
      deps.tell({ kind: 'rebooting', ...key })
      return waitForReboot(deps, offered)
    case 'to-rerun':
      return undefined
  }
}

/** Ends the attempt without starting it. */
function refuse(deps: CarryOutDeps, key: AttemptKey, outcome: Outcome): Promise<void> {
  deps.tell({ kind: 'ended', ...key, status: outcome.status, reason: outcome.statusDetails.reason })
  return report(deps, key, outcome)
}

/** Checks all steps before the first one starts. */
async function prepare(
  { rules, journal, trust }: CarryOutDeps,
  asked: Offered,
  before: Entry | undefined,
): Promise<Pick<Start, 'offered' | 'work' | 'programs' | 'files'> | { refused: Outcome }> {
  const { agentId } = journal
  // An attempt that has started once can only fail, not be rejected.
  const refused = (reason: string) => ({
    refused: before ? failure(reason, { agent: agentId }) : refusal(reason),
  })
  const trusted = await trust?.check(asked).catch(refusedOnly)
  if (trusted instanceof Refused) return refused(trusted.message)
  const offered = { ...asked, ...trusted }
  const plan = planWork(offered.document, rules)
  if (plan.kind === 'refusal') return refused(plan.reason)
  const programs: string[] = []
  for (const { runs, program } of plan.work.steps) {
    const found = runs === 'handler' ? await findHandler(rules.handlersFolder, program) : { path: program }
    if ('refusal' in found) return refused(found.refusal)
    programs.push(found.path)
  }
  const files = filesOf(offered, trusted !== undefined)
  if (files instanceof Refused) return refused(files.message)
  return { offered, work: plan.work, programs, files }
}

function filesOf({ document, files }: Offered, isSigned: boolean): WantedFile[] | Refused {
  try {
    return wantedFiles(document, files, isSigned)
  } catch (error) {
    return refusedOnly(error)
  }
}

function refusedOnly(error: unknown): Refused {
  if (error instanceof Refused) return error
  throw error
}

/** Started by another agent with this device id, or by this one before its state folder was lost. */
function begunByAnother({ begunBy }: Offered): Outcome {
  const who = begunBy === undefined ? 'another program' : `the agent ${begunBy}`
  return failure(`interrupted: ${who} has already started it as this device, and it is not started twice`)
}
