// Why an execution is not released yet, as a sentence and for programs.

import { whoInWords } from '@jobcast/contract/words'
import type { KeyNames } from '../access/key-names.ts'
import { type BothClocks, onWallClock } from '../common/instants.ts'
import type { Failing } from '../common/ports/failing-tasks.ts'
import { failingInWords } from '../common/read-failing.ts'
import { inWords } from '../execution/explain-end.ts'
import { type Explanation, plain } from '../execution/explanation.ts'
import { countedDecisions, neededApprovals } from './approval.ts'
import { type EndedCounts, gateOf } from './gate.ts'
import type { StoredFreeze } from './ports/rollouts.ts'
import type { StoredRollout } from './rollout.ts'
import { waveParts } from './rollout.ts'

export type RolloutReasons = {
  rollout: StoredRollout
  /** Of the current wave. */
  wave: EndedCounts
  /** Devices of the current wave that are not connected and have not finished. */
  offline: number
  /** Devices of the current wave that succeeded and report what the gate asks for. */
  confirmed: number
  now: BothClocks
  /** Of what is to be approved, while the run waits for approval. */
  digest?: string | undefined
  /** Undefined: nothing is failing. */
  failing?: Failing | undefined
}

/** Undefined: the execution is released. */
export function explainHeld(
  jobExecutionId: number,
  reasons: RolloutReasons,
  keyNames: KeyNames,
): Explanation | undefined {
  const { rollout, now } = reasons
  const { status, runId, firstExecutionId } = rollout
  const position = jobExecutionId - firstExecutionId
  if (position < status.released || status.state === 'RELEASED') return undefined
  const until = onWallClock(rollout.nextAt, now)
  switch (status.state) {
    case 'SCHEDULED': {
      const { startAt } = rollout
      return {
        ...plain,
        code: 'SCHEDULED',
        text: `Run ${runId} starts at ${inWords(startAt)}.`,
        until: startAt,
      }
    }
    case 'AWAITING_APPROVAL':
      return {
        ...plain,
        code: 'AWAITING_APPROVAL',
        text: approvalInWords(rollout, reasons.digest, keyNames),
      }
    case 'PAUSED': {
      const by = status.pausedBy === null ? '' : ` by ${nameOf(status.pausedBy, keyNames)}`
      const text = `Run ${runId} was paused${by}: ${status.pausedBecause}. It continues when it is resumed.`
      return { ...plain, code: 'RUN_PAUSED', text }
    }
    case 'DENIED':
    case 'ABORTED':
      return {
        ...plain,
        code: 'NOT_RELEASED',
        text: `Run ${runId} was stopped; this execution is being canceled.`,
      }
    default:
      if (reasons.failing) return explainFailing(runId, reasons.failing)
      return { ...plain, code: 'NOT_RELEASED', text: waitOf(position, reasons), until }
  }
}

function approvalInWords(
  { runId, status, plan }: StoredRollout,
  digest: string | undefined,
  keyNames: KeyNames,
): string {
  const given = countedDecisions(status, digest)
  const missing = neededApprovals(plan) - given.length
  const many = missing === 1 ? 'approval' : `${missing} approvals`
  const changed = status.approval?.returnsTo ? ', because it was changed after it had been approved' : ''
  const names = given.map(({ principal }) => nameOf(principal, keyNames))
  const by = names.length === 0 ? '' : ` It has that of ${names.join(' and ')}.`
  return `Run ${runId} waits for ${many} by somebody who has not created, changed or fired it${changed}.${by}`
}

function explainFailing(runId: number, failing: Failing): Explanation {
  const text = `Run ${runId} cannot continue: ${failingInWords(failing)}. It is retried.`
  return { ...plain, code: 'RELEASE_FAILING', text, since: failing.since }
}

export function explainFrozen(
  { reason, principal, at, until }: StoredFreeze,
  keyNames: KeyNames,
): Explanation {
  const end = until === null ? 'until somebody ends it' : `until ${inWords(until)}`
  const text = `The fleet was frozen by ${nameOf(principal, keyNames)} at ${inWords(at)} ${end}: ${reason}.`
  return { ...plain, code: 'FROZEN', text, since: at, until }
}

function nameOf(principal: string, keyNames: KeyNames): string {
  return whoInWords(principal, keyNames(principal)?.keyName ?? null)
}

function waitOf(position: number, reasons: RolloutReasons): string {
  const { rollout } = reasons
  const { plan, status } = rollout
  const parts = waveParts(plan.sizes)
  const own = parts.findIndex(({ from, to }) => from <= position && position < to)
  if (own === status.wave) return `It is in wave ${own + 1} of ${parts.length}, ${ofWhich(reasons)}.`
  const gate = gateInWords(reasons)
  const begins = status.wave + 2
  const which = begins === own + 1 ? '' : `It is in wave ${own + 1}; `
  return `${which}wave ${begins} of ${parts.length} opens when ${gate}.`.replace(/^w/, 'W')
}

function ofWhich({ rollout: { plan, status } }: RolloutReasons): string {
  const { from = 0, to = 0 } = waveParts(plan.sizes)[status.wave] ?? {}
  const { ratePerMinute, maxUnderWay, budget } = plan.rollout
  const rate = ratePerMinute === undefined ? '' : `, at ${ratePerMinute} a minute`
  const most = maxUnderWay === undefined ? '' : `, at most ${maxUnderWay} unfinished at once`
  const each = budget === undefined ? '' : `, at most ${budget.max} unfinished per ${budget.by}`
  return `of which ${status.released - from} of ${to - from} are released so far${rate}${most}${each}`
}

/** "95 % of wave 2 have succeeded; 88 % so far, 12 devices offline" */
function gateInWords({ rollout, wave, offline, confirmed }: RolloutReasons): string {
  const { plan, status } = rollout
  const { where, soakSeconds } = plan.rollout.next ?? {}
  const facts = { size: plan.sizes[status.wave] ?? 0, wave, confirmed, accepted: status.accepted }
  const { percent, size, succeeded } = gateOf(plan.rollout, facts)
  const others = status.accepted === 0 ? '' : `the other ${size} devices of `
  const reported = where === undefined ? '' : ` and report ${where}`
  const soak = soakSeconds === undefined ? '' : `, for ${soakSeconds} s`
  const soFar = size === 0 ? 100 : Math.floor((succeeded * 100) / size)
  const away = offline === 0 ? '' : `, ${offline} ${offline === 1 ? 'device' : 'devices'} offline`
  const condition = `${percent} % of ${others}wave ${status.wave + 1} have succeeded`
  return `${condition}${reported}${soak}; ${soFar} % so far${away}`
}
