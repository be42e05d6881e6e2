// Each step that the port has, so that each statement of a store is seen.

import { type ExecState, execStates } from '@jobcast/contract'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { ExecutionFilter } from '../../src/domain/execution/ports/executions.ts'
import { ofKey } from '../support/seed-data.ts'
import { output, startNext, update } from './device-reports.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import { schedulePut } from './exercise-schedules.ts'
import { windowPut } from './exercise-windows.ts'
import {
  by,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  moveOf,
  olderThan,
  seedOwner,
  startedAt,
  unknownMaker,
} from './store-under-test.ts'
import { createWebhook, progressOf, resultOf } from './webhook-steps.ts'

const now = momentAt(startedAt)
const slice = { after: undefined, limit: 5 }

function* everyFilter(): Generator<ExecutionFilter> {
  for (let index = 0; index < 128; index++) {
    const has = (bit: number) => (index & (1 << bit)) !== 0
    const states: (ExecState[] | undefined)[] = has(0)
      ? [...execStates.map((state) => [state]), ['FAILED', 'TIMED_OUT'], ['PENDING', 'SUCCEEDED', 'FAILED']]
      : [undefined]
    for (const execStates of states) {
      yield {
        ...(execStates && { execStates }),
        ...(has(1) && { jobName: 'restart' }),
        ...(has(2) && { deviceId: 'd1' }),
        ...(has(3) && { runId: 1 }),
        ...(has(4) && { launchedAfter: 1 }),
        ...(has(5) && { launchedBefore: startedAt + 1 }),
        ...(has(6) && { finishedAfter: 1, finishedBefore: startedAt + 1 }),
      }
    }
  }
}

async function takeScheduleSteps(store: Store): Promise<void> {
  const { ownerNo } = await seedOwner(store)
  const put = schedulePut({ ownerNo })
  const { scheduleNo } = put
  await store.putSchedule(put)
  await store.putSchedule({ ...put, jobName: 'other' })
  await store.listSchedules({ ownerNo, slice })
  await store.listDueSchedules({ by: startedAt, limit: 5 })
  await store.listSchedulesAhead({ of: 0, limit: 5 })
  await store.listJudgedSchedules({ limit: 5 })
  await store.listMatchSchedules()
  const before = await store.getSchedule(put)
  if (before) await store.changeSchedule({ before, set: {}, at: startedAt })
  await store.findScheduledRun({ scheduleNo, scheduledFor: startedAt })
  await store.listScheduledEnds({ scheduleNo, after: 0, limit: 5 })
  await store.countScheduled({ scheduleNos: [scheduleNo], since: 0 })
  await store.listUnfinishedCounts({ ownerNo, scheduleNo, limit: 5 })
  await store.listRunCounts({ ownerNo, runIds: [1], since: 0 })
  await store.listBusyRuns({ ownerNo, scheduleNo })
  await store.listBusyDevices({ first: 1, last: 5, limit: 5 })
  await store.listReplacing({ after: 0, limit: 5 })
  await store.listReplaced({ runId: 1 })
  await store.setReplaced({ runId: 1 })
  await store.changeSchedules([])
  await store.listNamedDevices({ ownerNo: 1, deviceIds: ['d1'] })
  await store.supersede({ jobExecutionIds: [1], moment: now, actor: 'key k1' })
  await store.listGivenDevices({ scheduleNo, deviceNos: [1] })
  await store.recordGiven({ scheduleNo, first: 1, last: 2 })
  await store.listGiven({ scheduleNo, deviceNos: [1] })
  await store.listAllGiven({ scheduleNo, after: -1, limit: 5 })
  await store.listFirstAgain({ scheduleNos: [scheduleNo] })
  await store.listDueAgain({ scheduleNo, by: now.clock, limit: 5 })
  await store.listUnended({ jobExecutionIds: [1] })
  const devices = { scheduleNo, deviceNos: [1] }
  await store.recordEnded({ ...devices, jobExecutionIds: [1], at: now.clock, againAt: null })
  await store.recordLeft({ ...devices, againAt: now.clock })
  await store.dropGiven({ ...devices, by: now.clock })
  await store.cancelLeft({ jobExecutionIds: [1], moment: now, actor: 'clock' })
  await store.getRunRange({ runId: 1 })
  await store.listDeviceChanges({ ownerNo, after: 0, limit: 5 })
  await store.listDeviceChanges({ ownerNo, after: 0, limit: 5, withMoves: true })
  await store.listSelectable({ ownerNo, deviceNos: [1] })
  await store.deleteSchedule({ ...put, ...by })
}

async function takeRolloutSteps(store: Store): Promise<void> {
  const content = { expireAfterSeconds: 1, deadlineSeconds: 1 }
  const { ownerNo, trigger } = await seedOwner(store, { content })
  const plan = { jobVersion: null, rollout: {}, approval: true, sizes: [1, 1] }
  const { runId } = await createOne(store, trigger(['d1', 'd2'], { plan }))
  await store.listOpenRollouts()
  await store.listRollouts({ ownerNo, runIds: [runId] })
  const found = await store.getRollout({ ownerNo, runId })
  const part = { ownerNo, runId, from: 0, to: 1 }
  await store.countRunParts({ ownerNo, runId, parts: [part] })
  await store.listEndedPart({ ownerNo, first: 1, last: 2, execStates: ['FAILED'], limit: 1 })
  await store.countOffline(part)
  const where = { kind: 'compare', name: 'fw', op: '=', value: '1' } as const
  await store.matchDevices({ ownerNo, where, deviceIds: ['d1'] })
  await store.countConfirmed({ ...part, where })
  for (const by of ['site', 'own.site', 'reported.site']) {
    await store.readBudget({ ownerNo, by, first: 1, from: 0, released: 1, to: 2 })
  }
  await store.findUnknownNames({ ownerNo, names: ['fw', 'own.fw', 'reported.fw'] })
  if (found) {
    const status = { ...found.rollout.status, released: 1 }
    await store.changeRollout({ before: found.rollout, status, nextAt: null, events: [], moment: now })
  }
  await store.listReleased(part)
  await store.fireClocks(momentAt(startedAt + 60_000))
  const freeze = { ownerNo, principal: 'key:k1', at: 1, clock: now.clock }
  await store.freezeFleet({ ...freeze, reason: 'r', until: 2 })
  await store.getFreeze({ ownerNo })
  await store.listFreezes()
  for (const expiredBy of [1, undefined]) {
    await store.unfreezeFleet({ ...freeze, ...(expiredBy !== undefined && { expiredBy }) })
  }
}

async function takeWindowSteps(store: Store): Promise<void> {
  const { ownerNo, trigger } = await seedOwner(store)
  const window = { ownerNo, windowName: 'w' }
  await store.putWindow(windowPut(ownerNo, 'w'))
  await store.getWindow(window)
  await store.listWindows({ ownerNo, slice })
  await store.recordAttributes([{ device: { ownerNo, deviceId: 'd1' }, changes: { timeZone: 'UTC' }, at: 1 }])
  const { firstExecutionId: first } = await createOne(store, trigger(['d1'], { window: 'w' }))
  for (const each of await store.listAllWindows()) {
    await store.setOpenZones([{ ...each, ...momentAt(startedAt), openZones: '|UTC|' }])
  }
  await store.listZones({ ownerNo })
  await store.fillZones()
  await store.listWindowRuns(window)
  for (const zones of [['UTC'], undefined]) await store.listWaitingDevices({ first, last: first, zones })
  const inGroup = { ownerNo, groupName: 'windowed', where: 'all', description: null, window: 'w', ...by }
  await store.putGroup({ ...inGroup, at: 1, most: 9 })
  const clock = steadyInstant(1)
  while (await store.sweepGroups({ ownerNo, clock }));
  await store.sweepGroups({ clock })
  await store.putDevices([{ ...devicePut(ownerNo, 'd1'), window: 'w', clock }])
  await store.listDeviceWindows({ ownerNo, deviceIds: ['d1'] })
  await store.listUsedWindows({ ownerNo })
  for (const zones of [['UTC'], undefined]) {
    await store.listWindowDevices({ ...window, zones, after: 0, limit: 9 })
  }
  await store.deleteWindow({ ...window, ...by, at: 1 })
  await store.putDevices([{ ...devicePut(ownerNo, 'd1'), clock: steadyInstant(2) }])
  await store.deleteGroup({ ownerNo, groupName: 'windowed', ...by, at: 1, unlessUsed: true })
  while (await store.sweepGroups({ ownerNo, clock: steadyInstant(2) }));
  await store.deleteWindow({ ...window, ...by, at: 1 })
  const secret = { ownerNo, secretName: 'TOKEN' }
  await store.putSecret({ ...secret, sealed: 'x', ...by, at: 1, most: 9, mostFormer: 1 })
  await store.putSecret({ ...secret, sealed: 'y', ...by, at: 2, most: 9, mostFormer: 1 })
  await store.getSecret(secret)
  await store.listSecrets({ ownerNo, slice })
  await store.findSecrets({ ownerNo, secretNames: ['TOKEN'] })
  await store.findAllValues({ ownerNo, secretNames: ['TOKEN'] })
  await store.listSealedSecrets({ ownerNo: 0, secretName: '', version: 0, limit: 9 })
  await store.replaceSealedSecrets({ sealed: [{ ...secret, version: 2, before: 'y', sealed: 'z' }] })
  await store.purgeFormerValues()
  await store.deleteSecret({ ...secret, ...by, at: 1 })
  await store.getOutputState({ jobExecutionId: 1 })
  const file = { ownerNo, fileName: 'app', version: '1' }
  const content = { size: 1, sha256: 'x', sha1: null, md5: null, url: null }
  await store.putFile({ ...file, ...content, ...by, at: 1, most: 9, mostBytes: 9 })
  await store.getFile(file)
  await store.listFiles({ ownerNo, slice })
  await store.listFileVersions({ ownerNo, fileName: 'app', slice: { limit: 9, after: undefined } })
  await store.findFiles({ ownerNo, refs: ['app', 'app@1'] })
  await store.countFileBytes({ ownerNo })
  await store.listKeptContents({ sha256s: ['x'] })
  await store.deleteFile({ ...file, ...by, at: 1 })
  await store.deleteWindow({ ownerNo, windowName: 'nobody', ...by, at: 1 })
}

async function takeAuditSteps(store: Store): Promise<void> {
  const { ownerNo, ownerId } = await seedOwner(store)
  const entry = {
    ownerNo,
    at: 1,
    principal: 'key:k',
    action: 'a.b',
    subject: 'a:1',
    details: '{"note":null}',
  }
  await store.recordAudit({ entries: [entry] })
  for (const filter of [{}, { action: 'a.*' }])
    await store.listAudit({ ownerNo, filter, slice: { limit: 5 } })
  await store.listUnsealedOwners({ after: 0, limit: 5 })
  const unsealed = await store.readUnsealed({ ownerNo, after: 0, limit: 5 })
  if (unsealed === undefined) throw new Error('nothing to seal')
  const { leaves, firstAuditId, lastAuditId } = unsealed
  const range = { ownerId, firstAuditId, lastAuditId, entries: 1, at: new Date(1).toISOString() }
  const signed = { root: '', previous: null, keyId: 'k', signature: '' }
  for (const seal of [1, 2]) {
    const publicKey = seal === 1 ? 'p' : undefined
    await store.addSeal({ ownerNo, seal: { ...range, ...signed, seal }, leaves, at: seal, publicKey })
  }
  await store.announceSeal({ ownerNo, sealNo: 2, at: 3, publicKey: 'p' })
  await store.getLastSeal({ ownerNo })
  await store.listLastSeals({ after: 0, limit: 5 })
  await store.readSealed({ ownerNo, after: 0, upTo: 2 })
  await store.purgeAudit({ olderThan: 9, isSealed: false })
}

export async function takeEveryStep(store: Store): Promise<void> {
  const { ownerNo, ownerId, trigger } = await seedOwner(store)
  const device = { ownerNo, deviceId: 'd1' }
  await store.checkHealth()
  await store.findOwner({ ownerId })
  await store.findOwnerByName({ ownerName: 'default' })
  await store.listOwners(slice)
  await store.setBridgeCursor({ bridgeName: 'b1', ownerNo, eventId: 1 })
  await store.getBridgeCursor({ bridgeName: 'b1', ownerNo })
  const key = { keyId: 'k', ownerNo, keyName: 'k', secretHash: new Uint8Array(32), createdAt: 1 }
  await store.createApiKey({ ...unknownMaker, ...key, scopes: [], expiresAt: null })
  await store.findApiKey({ keyId: 'k' })
  await store.putPersonKey({
    ...unknownMaker,
    ...key,
    keyId: `user:${ownerNo}:s`,
    scopes: [],
    expiresAt: null,
    unlessCheckedAfter: 1,
  })
  await store.listApiKeys({ ownerNo, slice: { after: undefined, limit: 5 } })
  await store.recordKeyUse([{ keyId: 'k', at: 1 }])
  await store.revokeApiKey({ ...by, withDescendants: false, ownerNo, keyId: 'k', at: 1 })
  await store.createApiKey({ ...key, keyId: 'admin', scopes: ['ADMIN'], expiresAt: null, ...unknownMaker })
  const child1 = { ...key, keyId: 'made', scopes: [], expiresAt: null }
  await store.createApiKey({ ...child1, createdBy: 'key:admin', createdBySession: null })
  await store.revokeApiKey({ ...by, withDescendants: true, ownerNo: undefined, keyId: 'admin', at: 1 })
  await store.allowDeviceCertificate({ ...device, at: 1 })
  for (const quota of ['executions', 'devices', 'jobs', 'keys', 'enrollments'] as const) {
    await store.countUsed({ quota, who: ownerNo, at: 1 })
  }
  await store.countUsed({ quota: 'key-sessions', who: 'k', at: 1 })
  await store.createExecutions([trigger(['d1'], { quota: { isOver: false, perDevice: 9 } })])
  await store.getJob({ ownerNo, jobName: 'restart' })
  await store.listJobs({ ownerNo, slice })
  await store.deleteJob({ ownerNo, jobName: 'nobody', at: 1 })
  await store.findJobUsers({ ownerNo, jobName: 'restart' })
  await store.putDevices([{ ...devicePut(ownerNo, 'd2', 'other'), tags: ['t'] }])
  await store.getDevice({ ownerNo, deviceId: 'd1' })
  for (const tag of ['t', undefined]) {
    for (const online of [true, false, undefined]) {
      await store.listDevices({
        ownerNo,
        filter: { ...(tag && { tag }), ...(online !== undefined && { online }) },
        slice,
      })
    }
  }
  await store.deleteDevice({ ownerNo, deviceId: 'd2', moment: now, actor: 'key k1' })
  const enrollment = await store.createEnrollment(newEnrollment(ownerNo))
  await store.findEnrollment({ enrollmentId: enrollment.enrollmentId })
  await store.listEnrollments({ ownerNo, slice })
  await store.enrollDevice(enrolling(enrollment, 'new', { at: startedAt }))
  await store.revokeEnrollment({ ...by, ownerNo, enrollmentId: enrollment.enrollmentId, at: 1 })
  await store.findDeviceByToken({ tokenId: 'nobody' })
  await store.findDeviceByCertificate({ ownerName: ownerId, deviceId: 'd1' })
  await store.recordPresence([
    { ...device, online: true, at: 1, transport: 'mqtt', session: steadyInstant(1) },
  ])
  await store.setAllOffline({ at: 2 })
  const idempotency = { key: 'k', requestHash: new Uint8Array(32), ...keyTimes(startedAt) }
  const { firstExecutionId: id, runId } = await createOne(store, trigger(['d1', 'd3'], { idempotency }))
  await store.createExecutions([trigger(['d1', 'd3'], { idempotency })])
  await store.recordReports([
    startNext(device),
    output(device, id, 0, 'text'),
    update(device, id, 'SUCCEEDED'),
  ])
  await store.moveExecution(moveOf(ownerNo, id + 1, 'cancel'))
  await store.moveRun({ ownerNo, runId, from: undefined, event: 'cancel', moment: now, actor: 'key k1' })
  await store.listTransitions({ ownerNo, jobExecutionId: id })
  await store.readQueues([device])
  await store.getDeviceExecution({ ...device, jobExecutionId: id })
  await store.recordDeliveries({ notified: [id], delivered: [], at: 1 })
  await store.recordDeliveries({ notified: [id], delivered: [id], at: 1 })
  const clocks = { expireAfterSeconds: 1, deadlineSeconds: 1 }
  const late = await seedOwner(store, { content: clocks })
  await createOne(store, late.trigger(['d1']))
  await store.fireClocks(momentAt(startedAt + 60_000))
  for (const attempt of [undefined, 9]) {
    await store.readOutput({ ownerNo, jobExecutionId: id, offset: 0, limit: 9, attempt })
  }
  await store.getRun({ ownerNo, runId })
  await takeAuditSteps(store)
  await takeRolloutSteps(store)
  await takeWindowSteps(store)
  await takeScheduleSteps(store)
  for (const jobName of ['restart', undefined]) {
    for (const finished of [true, false, undefined]) {
      const filter = { ...(jobName && { jobName }), ...(finished !== undefined && { finished }) }
      await store.listRuns({ ownerNo, filter, slice })
      const times = {
        launchedAfter: 1,
        launchedBefore: 9,
        finishedBefore: 9,
        execStates: ['FAILED'],
        rolloutState: 'PAUSED',
      } as const
      await store.listRuns({ ownerNo, filter: { ...filter, ...times }, slice })
      await store.listRuns({ ownerNo, filter: { ...filter, finishedAfter: 1 }, slice })
      await store.listRuns({ ownerNo, filter: { ...filter, scheduleName: 'nightly' }, slice })
    }
  }
  await store.listEndedDevices({ ownerNo, runId, ends: 'unsuccessful' })
  await store.findRollback({ ownerNo, runId })
  await store.setRunTrace({ ownerNo, runId, traceParent: 't' })
  for (const filter of everyFilter()) await store.listExecutions({ ownerNo, filter, slice })
  for (const filter of [{}, { deviceId: 'd1' }]) {
    await store.listEvents({ ownerNo, filter, slice: { after: 0, limit: 9 } })
  }
  await store.getEvent({ ownerNo, eventId: 1 })
  await store.findEventBefore({ ownerNo, at: startedAt })
  const webhook = await createWebhook(store, ownerNo)
  await store.listWebhooks({ ownerNo, slice })
  await store.pauseWebhook({ ...by, ...webhook, at: 1 })
  await store.resumeWebhook({ ...by, ...webhook, at: 1 })
  await store.recordAttempts([progressOf(webhook, { results: [resultOf(1, 'PENDING')] })])
  for (const state of ['PENDING', 'DELIVERED', 'FAILED', undefined] as const) {
    await store.listDeliveries({ ...webhook, state, slice })
  }
  const replay = { eventId: 1, type: 'device.created', subject: 's', matches: true, at: 1 }
  await store.replayDelivery({ webhookNo: webhook.webhookNo, ...replay })
  await store.replayWebhook({ ...by, ...webhook, after: 0, at: 1 })
  await store.listActiveWebhooks()
  await store.getActiveWebhook({ webhookNo: webhook.webhookNo })
  await store.listPendingDeliveries({ webhookNo: webhook.webhookNo, slice })
  await store.listTried({ webhookNo: webhook.webhookNo, round: 1, from: 0, to: 9 })
  await store.isRunReported({ webhookNo: webhook.webhookNo, round: 1, runId: 1 })
  await store.purgeDeliveries()
  await store.purgeEvents({ olderThan: startedAt + 1, now: startedAt + 1 })
  await store.purgeIdempotencyKeys({ olderThan: steadyInstant(1) })
  const boundTo = { currentNo: 1, versionNo: 1, window: null, total: 1, devices: '' }
  const planned = { jobName: 'restart', targets: { where: 'all' } }
  const plan = {
    ownerNo,
    planId: 'p',
    plannedBy: 'key:k1',
    createdAt: steadyInstant(1),
    values: null,
    boundTo,
  }
  await store.keepPlan({ ...plan, request: planned, most: 9, mostBytes: 9 })
  await store.getPlan({ ownerNo, planId: 'p' })
  await store.findPlannedRun({ ownerNo, planId: 'p' })
  await store.purgePlans({ olderThan: steadyInstant(1) })
  await store.setWebhookSecret({ ...by, ...webhook, secret: 's', oldSecretUntil: 2, at: 1 })
  await store.deleteWebhook({ ...webhook, ...by, at: startedAt })
  const jobs = ['restart', 'up*']
  for (const job of [{}, { jobs }]) await store.getFleetLevels({ ownerNo, ...job })
  await store.listFleetDevices({ ownerNo, slice })
  await store.countRunFlows({ ownerNo, runId, from: 1, stepMs: 9, stride: 2 })
  const range = { from: 1, to: startedAt + 9, stepMs: 1000, maxRuns: 9, maxDurations: 9 }
  for (const job of [{}, { jobName: 'restart' }, { jobs }, { jobName: 'restart', jobs }])
    await store.readStats({ ownerNo, ...range, ...job })
  await store.countFailures({ ownerNo, runId, groups: 9, sampled: 9 })
  const where = { kind: 'all' } as const
  await store.countRunsWithin({ ownerNo, runIds: [runId], where })
  await store.listDurationsWithin({ ownerNo, runIds: [runId], where, stride: 1 })
  for (const job of [{}, { jobs }]) {
    const between = { after: 0, before: 99, stepMs: 1000, maxExecutions: 9 }
    await store.countFlowsWithin({ ownerNo, where, ...between, ...job })
    await store.countUnfinished({ ownerNo, devices: [{ deviceNo: 1, deviceId: 'd1' }], ...job })
    const { stepMs: _, maxDurations: __, ...launched } = range
    await store.listLaunchedRuns({ ownerNo, ...launched, maxExecutions: 9, ...job })
  }
  await store.listSharedValues({ ownerNo, runId, failed: 9, succeeded: 9, least: 1, percent: 2, limit: 9 })
  for (const job of [{}, { jobs }]) await store.countFlows({ ownerNo, after: 0, stepMs: 1000, ...job })
  await store.getDocument({ jobVersion: 1 })
  await store.getJobVersion({ ownerNo, jobName: 'nobody', version: 1 })
  await store.listJobVersions({ ownerNo, jobName: 'nobody', slice })
  await store.getRunValues({ runId })
  await store.listSealed({ after: 0, limit: 9 })
  await store.replaceSealed({ sealed: [{ runId, before: 'a', secrets: 'b' }] })
  await store.listDeviceValues({ ownerNo, deviceIds: ['d1'], names: ['site'] })
  await store.listWithoutValues({ ownerNo, deviceIds: ['d1'], names: ['site'] })
  await store.listNosWithoutValues({ ownerNo, deviceNos: [1], names: ['site'] })
  await store.getJobOfVersion({ jobVersion: 1 })
  await store.readServiceLevels()
  const session = { sessionId: 's', kind: 'ticket', keyId: 'k', secretHash: new Uint8Array(32) } as const
  const stored = {
    ...session,
    ownerNo,
    parentId: null,
    address: null,
    userAgent: null,
    createdAt: 1,
    ...ofKey,
  }
  await store.createSession({ ...stored, lastUsedAt: 1, expiresAt: 9 })
  const child = { ...stored, sessionId: 'child', kind: 'session', lastUsedAt: 1, expiresAt: 9 } as const
  await store.redeemTicket({ ticketId: 's', session: child })
  await store.claimCheck({ sessionId: 'child', at: 2, triedBy: 1 })
  const person = { email: null, owners: ['default'] }
  await store.recordCheck({ sessionId: 'child', person, tokens: 'sealed', checkedAt: 2 })
  await store.recordSessionUse([{ sessionId: 'child', at: 2 }])
  await store.listSessions({ ownerNo, slice, now: 1, usedAfter: 0 })
  await store.findSession(session)
  await store.deleteSession({ ...by, sessionId: 'child', at: 1 })
  await store.purgeSessions({ expiredBy: 1 })
  const task = { kind: 'rollout', taskNo: 1 } as const
  await store.recordFailing({ ...task, since: 1, lastAt: 1, times: 2, message: 'm' })
  await store.listFailing({ kind: 'rollout', taskNos: [1], after: 0 })
  await store.clearFailing(task)
  await store.delayTimeouts({ jobExecutionIds: [1], startedAt, byMs: 1 })
  while (await store.purgeRuns(olderThan(startedAt + 1)));
  await store.eraseLeftovers()
}
