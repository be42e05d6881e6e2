// Events in every store: each change writes one in the same step, and they are read in the order of the changes.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ReportedStatus } from '@jobcast/contract'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { EventFilter, StoredEvent } from '../../src/domain/event/event.ts'
import type { ReportQuotas } from '../../src/domain/event/progress-events.ts'
import { ofKey } from '../support/seed-data.ts'
import { startNext, update } from './device-reports.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import {
  by,
  createOne,
  devicePut,
  fireClocks,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'
import { createWebhook, progressOf, webhookPut } from './webhook-steps.ts'

const failingInstant = startedAt + 13

async function readEvents(store: Store, ownerNo: number, filter: EventFilter = {}, after = 0) {
  const events: StoredEvent[] = []
  for (let place = after; ; ) {
    const look = await store.listEvents({ ownerNo, filter, slice: { after: place, limit: 3 } })
    events.push(...look.events)
    assert.ok(look.upTo >= place)
    place = look.upTo
    if (!look.more) return events
  }
}

const typesOf = (events: StoredEvent[]) => events.map(({ type }) => type)

export async function exerciseEvents(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  await t.test('a run has one event for its creation and one for each change', async () => {
    const seed = await seedOwner(store, { devices: ['a', 'b'] })
    const { ownerNo } = seed
    const { newest } = await store.getEventBounds({ ownerNo })
    const run = await createOne(store, seed.trigger(['a', 'b'], { launchedAt: startedAt + 1 }))
    const [first, second] = [run.firstExecutionId, run.firstExecutionId + 1]
    const a = { ownerNo, deviceId: 'a' }
    const details = { progress: '50' }
    await store.recordReports([startNext(a, { moment: momentAt(startedAt + 2) })])
    await store.recordReports([update(a, first, 'IN_PROGRESS', { statusDetails: details })])
    await store.recordReports([update(a, first, 'FAILED', { moment: momentAt(startedAt + 3) })])
    await store.moveExecution({
      ownerNo,
      jobExecutionId: second,
      event: 'cancel',
      moment: momentAt(startedAt + 4),
      actor: 'key k9',
    })
    const events = await readEvents(store, ownerNo, {}, newest)
    assert.deepEqual(typesOf(events), [
      'run.created',
      'execution.in_progress',
      'execution.progress',
      'execution.failed',
      'execution.canceled',
      'run.finished',
    ])
    const ids = events.map(({ eventId }) => eventId)
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((x, y) => x - y),
    )
    const { runId, jobName } = run
    const [created, started, progress, failed, canceled, finished] = events
    assert.deepEqual(created?.data, { runId, jobName, total: 2, retryOf: null })
    assert.equal(created?.at, startedAt + 1)
    assert.deepEqual(started?.data, {
      jobExecutionId: first,
      runId,
      jobName,
      deviceId: 'a',
      from: 'PENDING',
      execState: 'IN_PROGRESS',
      attempt: 1,
      versionNumber: 2,
      cause: 'start',
      actor: 'device',
      statusDetails: {},
    })
    const progressData = progress?.data as Extract<StoredEvent['data'], { execState: string }>
    assert.deepEqual([progressData.execState, progressData.statusDetails], ['IN_PROGRESS', details])
    assert.equal(failed?.at, startedAt + 3)
    const canceledData = canceled?.data as Extract<StoredEvent['data'], { execState: string }>
    assert.deepEqual([canceledData.actor, canceledData.deviceId], ['key k9', 'b'])
    const { counts, ...finishedData } = (finished as StoredEvent).data as { counts: Record<string, number> }
    assert.deepEqual(finishedData, { runId, jobName, total: 2, retryOf: null })
    assert.deepEqual([counts.FAILED, counts.CANCELED, counts.PENDING], [1, 1, 0])
  })

  await t.test('progress beyond a quota is refused and changes nothing; the end is accepted', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    const run = async () => {
      const { firstExecutionId: id } = await createOne(store, trigger(['d1']))
      await store.recordReports([startNext(device)])
      return id
    }
    const say = async (
      id: number,
      second: number,
      quotas: ReportQuotas,
      status: ReportedStatus = 'IN_PROGRESS',
    ) => {
      const moment = momentAt(startedAt + second * 1000)
      const [outcome] = await store.recordReports([
        update(device, id, status, { moment, statusDetails: { step: 'x'.repeat(90) }, quotas }),
      ])
      return outcome?.kind === 'over-quota' ? outcome.quota : outcome?.kind
    }
    const few = { 'execution-reports': 4, 'progress-bytes': 0 }
    const first = await run()
    const ofFew = [await say(first, 1, few), await say(first, 2, few), await say(first, 3, few)]
    assert.deepEqual(ofFew, ['done', 'done', 'execution-reports'])
    assert.equal((await store.getExecution({ ownerNo, jobExecutionId: first }))?.versionNumber, 4)
    assert.equal(await say(first, 4, few, 'SUCCEEDED'), 'done')
    const small = { 'execution-reports': 0, 'progress-bytes': 250 }
    const second = await run()
    const ofSmall = [await say(second, 1, small), await say(second, 2, small), await say(second, 3, small)]
    assert.deepEqual(ofSmall, ['done', 'done', 'progress-bytes'])
    assert.equal(await say(second, 4, small, 'FAILED'), 'done')
  })

  await t.test('changes of a device cause events, and steps without a change cause none', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
    const put = devicePut(ownerNo, 'd')
    const device = { ownerNo, deviceId: 'd' }
    await store.putDevices([put])
    await store.putDevices([put])
    await store.putDevices([{ ...put, deviceName: 'another', tags: ['t'] }])
    await store.setDeviceToken({
      ownerNo,
      deviceId: 'd',
      token: { tokenId: `t${ownerNo}`, tokenHash: new Uint8Array(32), at: 1, createdBy: null },
      at: 1,
    })
    const online = {
      ...device,
      online: true,
      at: startedAt + 5,
      transport: 'mqtt' as const,
      session: steadyInstant(1),
    }
    await store.recordPresence([online])
    await store.recordPresence([online])
    await store.recordPresence([{ ...online, online: false }])
    await store.setDeviceToken({ ownerNo, deviceId: 'd', token: null, at: startedAt })
    await store.deleteDevice({ ownerNo, deviceId: 'd', moment: momentAt(startedAt), actor: 'key k1' })
    await store.recordPresence([online])
    const events = await readEvents(store, ownerNo)
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [
        ['device.created', { deviceId: 'd', deviceName: put.deviceName, tags: put.tags }],
        ['device.updated', { deviceId: 'd', deviceName: 'another', tags: ['t'] }],
        ['device.credential_set', { deviceId: 'd' }],
        ['device.online', { deviceId: 'd', transport: 'mqtt' }],
        ['device.offline', { deviceId: 'd', transport: 'mqtt' }],
        ['device.credential_revoked', { deviceId: 'd' }],
        ['device.deleted', { deviceId: 'd' }],
      ],
    )
  })

  await t.test(
    'a device that enrolls is created and has a credential; one that goes offline does so once',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
      const enrollment = await store.createEnrollment(newEnrollment(ownerNo, { enrollmentId: `e${ownerNo}` }))
      await store.enrollDevice(enrolling(enrollment, 'new', { at: startedAt }))
      const came = {
        ownerNo,
        deviceId: 'new',
        online: true,
        at: startedAt,
        transport: 'http' as const,
        session: null,
      }
      await store.recordPresence([came])
      await store.recordPresence([{ ...came, online: false, at: startedAt + 1 }])
      await store.recordPresence([{ ...came, online: false, at: startedAt + 2 }])
      const types = typesOf(await readEvents(store, ownerNo))
      assert.deepEqual(types, [
        'enrollment.created',
        'device.created',
        'device.credential_set',
        'device.online',
        'device.offline',
      ])
    },
  )

  await t.test(
    'changes of access are events without secrets, and hidden from who must not see them',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
      const id = (kind: string) => `${kind}${ownerNo}`
      const at = startedAt
      const key = { keyId: id('k'), ownerNo, keyName: 'ci', secretHash: new Uint8Array(32), createdAt: at }
      const maker = { createdBy: 'operator', createdBySession: null }
      await store.createApiKey({ ...key, ...maker, scopes: ['READ'], expiresAt: startedAt + 1 })
      await store.revokeApiKey({ ...by, ownerNo, keyId: id('k'), withDescendants: true, at })
      await store.revokeApiKey({ ...by, ownerNo, keyId: id('k'), withDescendants: true, at })
      const enrollment = newEnrollment(ownerNo, { enrollmentId: id('e'), name: 'kiosks' })
      await store.createEnrollment(enrollment)
      for (let time = 0; time < 2; time++)
        await store.revokeEnrollment({ ...by, ownerNo, enrollmentId: id('e'), at })
      const webhook = await createWebhook(store, ownerNo)
      await store.putWebhook(webhookPut(ownerNo, 'w'))
      await store.resumeWebhook({ ...webhook, ...by, at })
      for (let time = 0; time < 2; time++) await store.pauseWebhook({ ...webhook, ...by, at })
      await store.resumeWebhook({ ...webhook, ...by, at })
      const pause = { because: 'gone' as const, at }
      await store.recordAttempts([progressOf(webhook, { pause }), progressOf(webhook, { pause })])
      await store.setWebhookSecret({ ...webhook, ...by, secret: 'whsec_other', oldSecretUntil: at, at })
      await store.deleteWebhook({ ...webhook, ...by, at })
      const owner = { ownerId: id('ow_'), ownerName: id('name '), createdAt: at }
      await store.createOwner({ ...owner, creator: { ownerNo, ...by } })
      await store.createOwner({ ...owner, creator: { ownerNo, ...by } })
      const session = {
        sessionId: id('s'),
        kind: 'session' as const,
        keyId: id('k'),
        ownerNo,
        parentId: null,
      }
      const seen = { address: null, userAgent: null, createdAt: at, lastUsedAt: at, expiresAt: at, ...ofKey }
      await store.createSession({ ...session, ...seen, secretHash: new Uint8Array(32) })
      const ticket = { ...session, ...seen, sessionId: id('t'), kind: 'ticket' as const, parentId: id('s') }
      await store.createSession({ ...ticket, secretHash: new Uint8Array(32) })
      await store.deleteSession({ ...by, sessionId: id('s'), at })

      const events = await readEvents(store, ownerNo)
      const keyData = {
        keyId: id('k'),
        keyName: 'ci',
        scopes: ['READ'],
        expiresAt: new Date(startedAt + 1).toISOString(),
      }
      const [principal, service] = ['key:k1', 'service']
      const enrollmentData = { enrollmentId: id('e'), name: 'kiosks', principal }
      const sessionData = { sessionId: id('s'), keyId: id('k') }
      const { ownerId, ownerName } = owner
      assert.deepEqual(
        events.map(({ type, data }) => [type, data]),
        [
          ['key.created', { ...keyData, principal: 'operator' }],
          ['key.revoked', { ...keyData, principal }],
          ['enrollment.created', enrollmentData],
          ['enrollment.revoked', enrollmentData],
          ['webhook.created', { webhookName: 'w', principal }],
          ['webhook.updated', { webhookName: 'w', change: 'paused', principal }],
          ['webhook.updated', { webhookName: 'w', change: 'resumed', principal }],
          ['webhook.updated', { webhookName: 'w', change: 'paused', principal: service }],
          ['webhook.updated', { webhookName: 'w', change: 'secret', principal }],
          ['webhook.deleted', { webhookName: 'w', principal }],
          ['owner.created', { ownerId, ownerName, principal }],
          ['session.signed_in', { ...sessionData, principal: `key:${id('k')}` }],
          ['session.signed_out', { ...sessionData, principal }],
        ],
      )
      const kindsWith = async (filter: EventFilter) => [
        ...new Set(typesOf(await readEvents(store, ownerNo, filter)).map((type) => type.split('.')[0])),
      ]
      const hiddenNouns = ['key', 'session', 'webhook'] as const
      assert.deepEqual(await kindsWith({ hiddenNouns }), ['enrollment', 'owner'])
      assert.deepEqual(await kindsWith({ hiddenNouns, types: ['key.*', 'owner.created'] }), ['owner'])
      for (const filter of [{ deviceId: 'd1' }, { jobName: 'restart' }, { runId: 1 }])
        assert.deepEqual(await kindsWith(filter), [])
    },
  )

  await t.test('a slice says whether more follow, also where it ends with the log', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [], devices: ['d1', 'd2', 'd3'] })
    const { newest } = await store.getEventBounds({ ownerNo })
    for (const filter of [{}, { types: ['device.*'] }]) {
      const list = (limit: number, after = 0) =>
        store.listEvents({ ownerNo, filter, slice: { after, limit } })
      const all = await list(100)
      assert.deepEqual([all.events.length, all.upTo, all.more], [3, newest, false])
      const two = await list(2)
      assert.deepEqual(
        [two.events, two.upTo, two.more],
        [all.events.slice(0, 2), all.events[1]?.eventId, true],
      )
      const last = await list(1, two.upTo)
      assert.deepEqual([last.events, last.upTo, last.more], [all.events.slice(2), newest, false])
      assert.deepEqual(await list(1, newest), { events: [], upTo: newest, more: false, purgedUpTo: 0 })
    }
  })

  await t.test('a filter lets through what it names: types, a run, a job, a device', async () => {
    const seed = await seedOwner(store, { jobs: ['restart', 'update'], devices: ['a', 'b'] })
    const { ownerNo } = seed
    const { newest } = await store.getEventBounds({ ownerNo })
    const one = await createOne(store, seed.trigger(['a', 'b']))
    const two = await createOne(store, seed.trigger(['b'], { jobName: 'update' }))
    const b = { ownerNo, deviceId: 'b' }
    await store.recordReports([update(b, one.firstExecutionId + 1, 'SUCCEEDED')])
    await store.recordReports([update(b, two.firstExecutionId, 'SUCCEEDED')])
    const read = async (filter: EventFilter) => typesOf(await readEvents(store, ownerNo, filter, newest))
    const ofTwo = ['run.created', 'execution.succeeded', 'run.finished']
    assert.deepEqual(await read({ runId: two.runId }), ofTwo)
    assert.deepEqual(await read({ jobName: 'update' }), ofTwo)
    assert.deepEqual(await read({ jobName: 'update', types: ['run.*'] }), ['run.created', 'run.finished'])
    assert.deepEqual(await read({ types: ['execution.succeeded'] }), [
      'execution.succeeded',
      'execution.succeeded',
    ])
    assert.deepEqual(await read({ deviceId: 'a' }), ['run.created'])
    assert.deepEqual((await read({ deviceId: 'b' })).length, 5)
    assert.deepEqual(await read({ deviceId: 'none' }), [])
    assert.deepEqual(await read({ types: ['device.*'] }), [])
  })

  await t.test('events of other owners are not returned', async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    await store.putDevices([devicePut(mine.ownerNo, 'only-mine')])
    const read = await readEvents(store, theirs.ownerNo)
    assert.equal(JSON.stringify(read).includes('only-mine'), false)
  })

  await t.test(
    'a step that fails creates no event, and a listener is notified of those that are committed',
    async () => {
      const seed = await seedOwner(store, { devices: ['a'] })
      const { ownerNo } = seed
      const { newest } = await store.getEventBounds({ ownerNo })
      await underTest.failAt(failingInstant)
      await assert.rejects(createOne(store, seed.trigger(['a'], { launchedAt: failingInstant })))
      assert.deepEqual(await readEvents(store, ownerNo, {}, newest), [])
      const notified = new Promise<void>((resolve) => store.onEvents(resolve))
      await createOne(store, seed.trigger(['a']))
      await notified
      assert.deepEqual(typesOf(await readEvents(store, ownerNo, {}, newest)), ['run.created'])
    },
  )

  await t.test('old events are purged except the newest, and ids continue to grow', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
    for (const at of [1, 2, 3, 4]) await store.putDevices([{ ...devicePut(ownerNo, `d${at}`), at }])
    const before = await readEvents(store, ownerNo)
    while (await store.purgeEvents({ olderThan: 3, now: 3 }));
    const left = await readEvents(store, ownerNo)
    assert.deepEqual(
      left.map(({ at }) => at),
      before.map(({ at }) => at).filter((at) => at >= 3),
    )
    const purged = before.findLast(({ at }) => at < 3)?.eventId
    assert.equal((await store.getEventBounds({ ownerNo })).purgedUpTo, purged)
    while (await store.purgeEvents({ olderThan: Number.MAX_SAFE_INTEGER, now: startedAt }));
    const last = await readEvents(store, ownerNo)
    assert.deepEqual(last, before.slice(-1))
    const reopened = await underTest.reopen()
    await reopened.putDevices([devicePut(ownerNo, 'later')])
    const events = await readEvents(reopened, ownerNo)
    assert.equal(events.length, 2)
    assert.ok((events[1]?.eventId ?? 0) > (last[0]?.eventId ?? 0))
  })

  await t.test('an event with a wrong date does not cause a purge of newer ones', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
    const [old, fresh, ahead] = [1, startedAt, startedAt + 365 * 86_400_000]
    const dates = [old, ahead, old, fresh, old, old, ahead, fresh]
    for (const [index, at] of dates.entries()) {
      await store.putDevices([{ ...devicePut(ownerNo, `d${index}`), at }])
    }
    while (await store.purgeEvents({ olderThan: 2, now: startedAt }));
    const left = await readEvents(store, ownerNo)
    assert.deepEqual(
      left.map(({ at }) => at),
      dates.slice(3),
    )
  })

  await t.test('the last event before an instant is found', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store, { jobs: [], devices: [] })
    const { newest } = await store.getEventBounds({ ownerNo })
    const instants = [10, 20, 20, 30, 50]
    for (const [index, at] of instants.entries()) {
      await store.putDevices([{ ...devicePut(ownerNo, `d${index}`), at: startedAt + at }])
    }
    const ids = (await readEvents(store, ownerNo, {}, newest)).map(({ eventId }) => eventId)
    const before = (at: number) => store.findEventBefore({ ownerNo, at: startedAt + at })
    assert.deepEqual(
      [await before(11), await before(20), await before(21), await before(50), await before(999)],
      [ids[0], ids[0], ids[2], ids[3], ids[4]],
    )
  })

  await t.test(
    'frequent progress causes one event per second, including the newest and the end',
    async () => {
      const { store } = underTest
      const { ownerNo, trigger } = await seedOwner(store)
      const device = { ownerNo, deviceId: 'd1' }
      const { firstExecutionId: id } = await createOne(store, trigger(['d1']))
      await store.recordReports([startNext(device)])
      const { newest } = await store.getEventBounds({ ownerNo })
      const say = (ms: number, step: string) =>
        underTest.store.recordReports([
          update(device, id, 'IN_PROGRESS', { moment: momentAt(startedAt + ms), statusDetails: { step } }),
        ])
      const steps = async () =>
        (await readEvents(underTest.store, ownerNo, {}, newest)).map(({ type, data }) =>
          type === 'execution.progress' && 'statusDetails' in data ? data.statusDetails.step : type,
        )
      for (let ms = 0; ms < 900; ms += 9) await say(ms, `at ${ms}`)
      await store.fireClocks(momentAt(startedAt + 999))
      assert.deepEqual(await steps(), ['at 0'])
      assert.equal((await store.getExecution({ ownerNo, jobExecutionId: id }))?.statusDetails.step, 'at 891')
      await underTest.reopen()
      await fireClocks(underTest.store, ownerNo, momentAt(startedAt + 1000))
      assert.deepEqual(await steps(), ['at 0', 'at 891'])
      await fireClocks(underTest.store, ownerNo, momentAt(startedAt + 5000))
      assert.deepEqual(await steps(), ['at 0', 'at 891'], 'and it comes out once')
      await say(5000, 'x')
      await say(5001, 'y')
      await underTest.store.recordReports([
        update(device, id, 'SUCCEEDED', { moment: momentAt(startedAt + 5002) }),
      ])
      await fireClocks(underTest.store, ownerNo, momentAt(startedAt + 9000))
      assert.deepEqual((await steps()).slice(2), ['x', 'y', 'execution.succeeded', 'run.finished'])
    },
  )

  await t.test('a bridge continues at its cursor, and starts over with another owner', async () => {
    const [one, other] = [await seedOwner(underTest.store), await seedOwner(underTest.store)]
    const of = ({ ownerNo }: { ownerNo: number }) =>
      underTest.store.getBridgeCursor({ bridgeName: 'b1', ownerNo })
    assert.equal(await of(one), undefined)
    // Beyond 32 bits.
    for (const eventId of [7, 2 ** 40])
      await underTest.store.setBridgeCursor({ bridgeName: 'b1', ownerNo: one.ownerNo, eventId })
    await underTest.reopen()
    assert.deepEqual([await of(one), await of(other)], [2 ** 40, undefined])
    await underTest.store.setBridgeCursor({ bridgeName: 'b1', ownerNo: other.ownerNo, eventId: 3 })
    assert.deepEqual([await of(one), await of(other)], [undefined, 3])
  })
}
