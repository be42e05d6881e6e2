// What every store says of events: each change makes one, in the same step, and they read in the order of the changes.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { EventFilter, StoredEvent } from '../../src/domain/event.ts'
import { steadyInstant } from '../../src/domain/instants.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { startNext, update } from './device-reports.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import {
  createOne,
  devicePut,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

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

  await t.test('the life of a run reads as one event for its creation and one a change', async () => {
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

  await t.test('what a device goes through makes events, and what changes nothing makes none', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const put = devicePut(ownerNo, 'd')
    const device = { ownerNo, deviceId: 'd' }
    await store.putDevices([put])
    await store.putDevices([put])
    await store.putDevices([{ ...put, deviceName: 'another', tags: ['t'] }])
    await store.setDeviceToken({
      ownerNo,
      deviceId: 'd',
      token: { tokenId: `t${ownerNo}`, tokenHash: new Uint8Array(32), at: 1 },
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
    'a device that enrols is created and has a credential; one that goes offline does so once',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
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
      assert.deepEqual(types, ['device.created', 'device.credential_set', 'device.online', 'device.offline'])
    },
  )

  await t.test('a slice says whether there are more behind it, also where it ends with the log', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2', 'd3'] })
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
      assert.deepEqual(await list(1, newest), { events: [], upTo: newest, more: false, forgotten: 0 })
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

  await t.test('nobody reads the events of another owner', async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    await store.putDevices([devicePut(mine.ownerNo, 'only-mine')])
    const read = await readEvents(store, theirs.ownerNo)
    assert.equal(JSON.stringify(read).includes('only-mine'), false)
  })

  await t.test('a step that fails makes no event, and a listener is told of those that hold', async () => {
    const seed = await seedOwner(store, { devices: ['a'] })
    const { ownerNo } = seed
    const { newest } = await store.getEventBounds({ ownerNo })
    await underTest.failAt(failingInstant)
    await assert.rejects(createOne(store, seed.trigger(['a'], { launchedAt: failingInstant })))
    assert.deepEqual(await readEvents(store, ownerNo, {}, newest), [])
    const told = new Promise<void>((resolve) => store.onEvents(resolve))
    await createOne(store, seed.trigger(['a']))
    await told
    assert.deepEqual(typesOf(await readEvents(store, ownerNo, {}, newest)), ['run.created'])
  })

  await t.test('old ones are forgotten but for the newest, and ids grow on after that', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    for (const at of [1, 2, 3, 4]) await store.putDevices([{ ...devicePut(ownerNo, `d${at}`), at }])
    const before = await readEvents(store, ownerNo)
    while (await store.purgeEvents({ olderThan: 3, now: 3 }));
    const left = await readEvents(store, ownerNo)
    assert.deepEqual(
      left.map(({ at }) => at),
      before.map(({ at }) => at).filter((at) => at >= 3),
    )
    const forgotten = before.findLast(({ at }) => at < 3)?.eventId
    assert.equal((await store.getEventBounds({ ownerNo })).forgotten, forgotten)
    while (await store.purgeEvents({ olderThan: Number.MAX_SAFE_INTEGER, now: startedAt }));
    const last = await readEvents(store, ownerNo)
    assert.deepEqual(last, before.slice(-1))
    const reopened = await underTest.reopen()
    await reopened.putDevices([devicePut(ownerNo, 'later')])
    const events = await readEvents(reopened, ownerNo)
    assert.equal(events.length, 2)
    assert.ok((events[1]?.eventId ?? 0) > (last[0]?.eventId ?? 0))
  })

  await t.test('one that is dated wrongly takes no newer ones with it', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store, { devices: [] })
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
    const { ownerNo } = await seedOwner(store, { devices: [] })
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
}
