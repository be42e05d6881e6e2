// Explains why an execution has not ended yet, or how it ended: a sentence for people, and a code for programs.

import type { Caller } from '../access/caller.ts'
import { type KeyNames, readKeyNames } from '../access/key-names.ts'
import { isConfined, isConfinedToDevices, mayUseJob } from '../access/restriction.ts'
import { bridgesOf } from '../bridge/bridge-owner.ts'
import { onWallClock, type WallInstant } from '../common/instants.ts'
import { notFound } from '../common/not-found.ts'
import type { Failing } from '../common/ports/failing-tasks.ts'
import type { Store } from '../common/ports/store.ts'
import { failingInWords, readFailing } from '../common/read-failing.ts'
import { type PresenceView, settled } from '../device/device.ts'
import type { StoredPresence } from '../device/ports/presence.ts'
import { actorsOf } from '../rollout/approval.ts'
import { readDigest } from '../rollout/approval-digest.ts'
import { explainFrozen, explainHeld, type RolloutReasons } from '../rollout/explain-rollout.ts'
import type { StoredFreeze } from '../rollout/ports/rollouts.ts'
import { currentPart, type RollOutDeps } from '../rollout/roll-out.ts'
import { runInReach } from '../trigger/run-in-reach.ts'
import { explainWindow, readWindowReason, type WindowReason } from '../window/explain-window.ts'
import type { DeviceExecution } from './device-report.ts'
import { isTerminal, type Moment } from './execution.ts'
import { byWhom, explainEnd, inWords } from './explain-end.ts'
import { readExpiry } from './explain-limits.ts'
import { type Explanation, plain } from './explanation.ts'
import type { StoredExecution, StoredTransition } from './ports/executions.ts'

export type ExplainDeps = {
  store: Store
  moment: () => Moment
  presence: PresenceView
  countConfirmed: RollOutDeps['countConfirmed']
  waveCounts: RollOutDeps['waveCounts']
  /** Bridges to the user's own brokers. */
  bridgeViews: { list(): readonly BridgeFacts[] }
}

/** The state known to this node. */
type BridgeFacts = { bridgeName: string; ownerName: string; state: string; lastError?: string | undefined }

export type Facts = {
  execution: Omit<StoredExecution, 'notBefore'>
  /** Not offered before then: it waits for a retry, or the device said not now. */
  notBefore: WallInstant | null
  transitions: StoredTransition[]
  presence: StoredPresence
  hasToken: boolean
  /** The first execution in the device's queue; its id is null if the caller may not see it. */
  first: (Pick<DeviceExecution, 'execState'> & { jobExecutionId: number | null }) | undefined
  /** When it times out. */
  timesOutAt: WallInstant | null
  /** Undefined: the run has no rollout that holds it back. */
  rollout?: RolloutReasons | undefined
  /** Undefined: the fleet is not frozen. */
  freeze?: StoredFreeze | undefined
  /** Names of the keys that paused the run or froze the fleet. */
  keyNames?: KeyNames
  /** The bridge to the broker that the owner's devices are connected to. */
  bridge?: Omit<BridgeFacts, 'ownerName'> | undefined
  /** Undefined: it may be offered at any time. */
  window?: WindowReason | undefined
  /** A timer of this execution is overdue because timers cannot be written. */
  overdue?: Overdue | undefined
}

type Overdue = { at: WallInstant; failing: Failing }

export async function explainExecution(
  deps: ExplainDeps,
  caller: Caller,
  jobExecutionId: number,
): Promise<{ execution: StoredExecution; explanation: Explanation }> {
  const { store } = deps
  const { ownerNo, ownerId } = caller
  await settled(deps.presence)
  const execution = await store.getExecution({ ownerNo, jobExecutionId })
  if (execution === undefined) throw notFound('J-302', jobExecutionId)
  const device = { ownerNo, deviceId: execution.deviceId }
  const [transitions = [], storedDevice, [queue], own] = await Promise.all([
    store.listTransitions({ ownerNo, jobExecutionId }),
    store.getDevice({ ownerNo, deviceId: device.deviceId }),
    store.readQueues([device]),
    store.getDeviceExecution({ ...device, jobExecutionId }),
  ])
  const now = deps.moment()
  const isWaiting = execution.execState === 'PENDING'
  const [rollout, freeze, window] = isWaiting
    ? await Promise.all([
        readReasons(deps, ownerNo, execution.runId, now),
        store.getFreeze({ ownerNo }),
        readWindowReason(store, { ownerNo, runId: execution.runId }, storedDevice, now.at),
      ])
    : []
  const principals = [...(rollout ? actorsOf(rollout.rollout.status) : []), freeze?.principal ?? null]
  const facts: Facts = {
    keyNames: await readKeyNames(store, ownerNo, now.at, principals),
    execution,
    notBefore: onWallClock(execution.notBefore, now),
    transitions,
    presence: storedDevice?.presence ?? neverSeen,
    hasToken: typeof storedDevice?.credentialCreatedAt === 'number',
    first: await shownTo(deps, caller, typeof queue === 'object' ? queue.executions[0] : undefined),
    timesOutAt: onWallClock(own?.timesOutAt ?? null, now),
    rollout,
    freeze,
    window,
    bridge: isWaiting ? await bridgeOf(deps, ownerId) : undefined,
  }
  const expiresAt = isWaiting ? await readExpiry(store, { ownerNo, jobExecutionId }, freeze, now) : null
  const overdue = await readOverdue(deps, facts, expiresAt, now.at)
  const explanation = await explainedTo(deps, caller, facts, explain({ ...facts, overdue }))
  return { execution, explanation: isWaiting ? withExpiry(explanation, expiresAt) : explanation }
}

async function shownTo(
  { store }: ExplainDeps,
  caller: Caller,
  first: Facts['first'],
): Promise<Facts['first']> {
  if (!isConfined(caller) || first === undefined || first.jobExecutionId === null) return first
  const { jobExecutionId, execState } = first
  const found = await store.getExecution({ ownerNo: caller.ownerNo, jobExecutionId })
  return found && mayUseJob(caller, found.jobName) ? first : { jobExecutionId: null, execState }
}

/** Hides the rollout's details, which count all devices of the run, from a caller that may not see all of them. */
async function explainedTo(
  { store }: ExplainDeps,
  caller: Caller,
  { execution, rollout, keyNames = () => undefined }: Facts,
  explanation: Explanation,
): Promise<Explanation> {
  if (!isConfinedToDevices(caller) || rollout === undefined) return explanation
  if (explainHeld(execution.jobExecutionId, rollout, keyNames)?.code !== explanation.code) return explanation
  const { ownerNo } = caller
  const run = await store.getRun({ ownerNo, runId: execution.runId })
  if (run && (await runInReach({ store }, caller, run))?.isWhole) return explanation
  const text = `Run ${execution.runId} has not released this yet.`
  return { ...plain, code: explanation.code, text }
}

/** Of several bridges, preferably one that is down. */
async function bridgeOf(
  { store, bridgeViews }: ExplainDeps,
  ownerId: string,
): Promise<BridgeFacts | undefined> {
  const ours = await bridgesOf(store, ownerId, bridgeViews.list())
  return ours.find(isDown) ?? ours[0]
}

/** Adds the expiry to explanations of holds, which shows whether the hold ends in time. */
function withExpiry(explanation: Explanation, expiresAt: WallInstant | null): Explanation {
  const { code, text } = explanation
  const isHeld = code === 'FROZEN' || code === 'OUTSIDE_WINDOW'
  const words = isHeld && expiresAt !== null ? ` It ends unstarted at ${inWords(expiresAt)}.` : ''
  return { ...explanation, expiresAt, text: `${text}${words}` }
}

async function readReasons(
  { store, countConfirmed, waveCounts }: ExplainDeps,
  ownerNo: number,
  runId: number,
  now: Moment,
): Promise<RolloutReasons | undefined> {
  const found = await store.getRollout({ ownerNo, runId })
  if (found === undefined || found.rollout.status.state === 'RELEASED') return undefined
  const { rollout, run } = found
  const part = currentPart(rollout)
  const where = rollout.plan.rollout.next?.where
  const isWaiting = rollout.status.state === 'AWAITING_APPROVAL'
  const [waves, offline, confirmed, digest, failing] = await Promise.all([
    waveCounts.recent(rollout, run),
    store.countOffline({ ...part, to: Math.min(part.to, Math.max(part.from, rollout.status.released)) }),
    where === undefined ? 0 : countConfirmed({ ...part, where }),
    isWaiting ? readDigest({ store }, rollout) : undefined,
    readFailing({ store, moment: () => now }, 'rollout', [runId]).then((found) => found.get(runId)),
  ])
  return { rollout, wave: waves[rollout.status.wave] ?? {}, offline, confirmed, now, digest, failing }
}

/** How late a timer may be. */
const toleratedMs = 2000

async function readOverdue(
  deps: ExplainDeps,
  { execution, timesOutAt, notBefore }: Facts,
  expiresAt: WallInstant | null,
  now: WallInstant,
): Promise<Overdue | undefined> {
  const timers = execution.execState === 'PENDING' ? [notBefore, expiresAt] : [timesOutAt]
  const at = Math.min(...timers.map((due) => due ?? Number.POSITIVE_INFINITY))
  if (isTerminal(execution.execState) || now < at + toleratedMs) return undefined
  const failing = (await readFailing(deps, 'timers', [0])).get(0)
  return failing && { at, failing }
}

function explainOverdue({ at, failing }: Overdue): Explanation {
  const text = `Its timer was due at ${inWords(at)}, but timers cannot be written: ${failingInWords(failing)}. It is retried.`
  return { ...plain, code: 'TIMER_FAILING', text, since: failing.since }
}

const neverSeen: StoredPresence = { online: false, since: null, lastSeenAt: null, transport: null }

export function explain(facts: Facts): Explanation {
  const { execution, transitions } = facts
  if (isTerminal(execution.execState)) {
    return { ...plain, code: 'ENDED', text: explainEnd(execution, transitions), since: execution.finishedAt }
  }
  if (facts.overdue) return explainOverdue(facts.overdue)
  switch (execution.execState) {
    case 'IN_PROGRESS':
      return explainRunning(facts)
    case 'CANCELING':
      return explainCanceling(facts)
    default:
      return explainPending(facts)
  }
}

/** Checks what keeps it from reaching the device before what delays it on the device. */
function explainPending(facts: Facts): Explanation {
  const { execution, presence, first } = facts
  const { jobExecutionId, notifiedAt, deliveredAt } = execution
  const device = `Device ${execution.deviceId}`
  const { keyNames = () => undefined } = facts
  const held = facts.rollout && explainHeld(jobExecutionId, facts.rollout, keyNames)
  if (held) return held
  if (facts.freeze) return explainFrozen(facts.freeze, keyNames)
  const outside = facts.window && explainWindow(execution.deviceId, facts.window)
  if (outside) return outside
  if (facts.notBefore !== null) return explainRetry(facts, facts.notBefore)
  const handed = explainHanded(facts)
  if (handed) return handed
  if (!presence.online && presence.since === null) {
    const rest = facts.hasToken ? 'it gets this when it does' : 'it has no device token yet'
    return { ...plain, code: 'DEVICE_NEVER_CONNECTED', text: `${device} has never connected; ${rest}.` }
  }
  if (!presence.online) {
    const text = `${device} ${awayOf(presence)}; it gets this when it connects.`
    return { ...plain, code: 'DEVICE_OFFLINE', text, since: presence.since }
  }
  if (first !== undefined && first.jobExecutionId !== jobExecutionId) {
    const behind = first.jobExecutionId
    const which = behind === null ? 'another execution' : `execution ${behind}`
    const text = `${device} is online and has to finish ${which} first, which is ${first.execState}.`
    return { ...plain, code: 'BEHIND_EXECUTION', text, behind }
  }
  if (deliveredAt !== null) {
    const text = `${device} is online and confirmed at ${inWords(deliveredAt)} that it has this, but has not started it.`
    return { ...plain, code: 'DELIVERED', text, since: deliveredAt }
  }
  if (notifiedAt !== null) {
    const text = `${device} is online and was notified of this at ${inWords(notifiedAt)}, but has not started it.`
    return { ...plain, code: 'NOTIFIED', text, since: notifiedAt }
  }
  const text = `${device} is online, but has not been notified of this yet; it is notified when it polls or subscribes.`
  return { ...plain, code: 'NOT_NOTIFIED_YET', text }
}

function isDown({ state, lastError }: Pick<BridgeFacts, 'state' | 'lastError'>): boolean {
  return state !== 'connected' && lastError !== undefined
}

/** For devices on a bridged broker, whose presence is not known. */
function explainHanded({ execution, presence, first, bridge, hasToken }: Facts): Explanation | undefined {
  const { deviceId, jobExecutionId, notifiedAt, deliveredAt } = execution
  if (bridge === undefined || deliveredAt !== null) return undefined
  if (presence.online && presence.transport !== 'bridge') return undefined
  if (first !== undefined && first.jobExecutionId !== jobExecutionId) return undefined
  const { transport, since } = presence
  const wasHere = transport !== null && transport !== 'bridge' && since !== null
  // The notification went to a direct connection, which has been closed since.
  if (wasHere && notifiedAt !== null && notifiedAt <= since) return undefined
  const { bridgeName, lastError } = bridge
  // A device with a token connects directly.
  const isOnBroker = presence.transport === 'bridge' || !hasToken
  if (notifiedAt === null) {
    if (!isDown(bridge) || !isOnBroker) return undefined
    const text = `Bridge ${bridgeName} is not connected: ${lastError}; device ${deviceId} is notified when it is.`
    return { ...plain, code: 'NOT_NOTIFIED_YET', text }
  }
  const text = `Handed to broker ${bridgeName} at ${inWords(notifiedAt)}; device ${deviceId} has not requested it yet.`
  return { ...plain, code: 'NOTIFIED', text, since: notifiedAt }
}

function explainRetry({ execution, transitions }: Facts, notBefore: WallInstant): Explanation {
  const { attempt } = execution
  const retry = transitions.findLast(({ event }) => event === 'retry' || event === 'not-now')
  if (retry?.event === 'not-now') return explainNotNow(execution.deviceId, retry, notBefore)
  const end = retry?.actor === 'clock' ? 'timed out' : 'failed'
  const when = retry ? ` at ${inWords(retry.at)}` : ''
  return {
    ...plain,
    code: 'WAITING_FOR_RETRY',
    text: `Attempt ${attempt - 1} ${end}${when}; attempt ${attempt} starts no earlier than ${inWords(notBefore)}.`,
    since: retry?.at ?? null,
    until: notBefore,
  }
}

function explainNotNow(
  deviceId: string,
  { at, reason }: StoredTransition,
  notBefore: WallInstant,
): Explanation {
  const why = reason === null ? '' : ` (${reason})`
  return {
    ...plain,
    code: 'NOT_NOW',
    text: `Device ${deviceId} reported at ${inWords(at)} that it cannot run this now${why}; it is offered again at ${inWords(notBefore)}.`,
    since: at,
    until: notBefore,
  }
}

function explainRunning({ execution, presence, timesOutAt }: Facts): Explanation {
  const { deviceId, attempt, startedAt } = execution
  const work = `Device ${deviceId} has been working on attempt ${attempt} since ${inWords(startedAt)}`
  const away = presence.online ? '' : `, but ${awayOf(presence)}`
  const end = timesOutAt === null ? 'it has no time limit' : `it times out at ${inWords(timesOutAt)}`
  return {
    ...plain,
    code: 'RUNNING',
    text: `${work}${away}; ${end}.`,
    since: startedAt,
    until: timesOutAt,
  }
}

function explainCanceling({ execution, transitions, presence, timesOutAt }: Facts): Explanation {
  const asked = transitions.findLast(({ to }) => to === 'CANCELING')
  const away = presence.online ? '' : ` and ${awayOf(presence)}`
  return {
    ...plain,
    code: 'CANCEL_REQUESTED',
    text:
      `Cancel was requested${byWhom(asked)}; device ${execution.deviceId} ` +
      `has until ${inWords(timesOutAt)} to confirm${away}, then it is CANCELED anyway.`,
    since: asked?.at ?? null,
    until: timesOutAt,
  }
}

function awayOf({ since }: StoredPresence): string {
  return since === null ? 'is not connected' : `has been offline since ${inWords(since)}`
}
