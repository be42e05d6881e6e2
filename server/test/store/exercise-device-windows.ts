// Windows of devices and of groups, in every store: all that apply must be open, and time limits stand still while one is not.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { anyTime } from '../../src/domain/window/any-time.ts'
import { writeOpenZones } from '../../src/domain/window/open-zones.ts'
import { assertUnknown, report, reportDone, startedBy, startNext, update } from './device-reports.ts'
import { windowPut } from './exercise-windows.ts'
import {
  assertRunsAddUp,
  by,
  createOne,
  fireClocks,
  momentAt,
  readQueue,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const hour = 3600
const after = (seconds: number) => momentAt(startedAt + seconds * 1000)

type PutOptions = { window?: string | null; tags?: string[]; seconds?: number }
type GroupOptions = { window?: string | null; seconds?: number }

export async function exerciseDeviceWindows(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  async function seed(content: Partial<StoredJobContent> = {}, devices = ['d1', 'd2', 'd3']) {
    const { ownerNo, trigger } = await seedOwner(underTest.store, { content, devices })
    const deviceOf = (deviceId: string) => ({ ownerNo, deviceId })
    for (const name of ['nights', 'days']) await underTest.store.putWindow(windowPut(ownerNo, name))
    return {
      ...{ ownerNo, trigger, deviceOf },
      async put(deviceId: string, { tags = [], seconds = 0, ...fields }: PutOptions) {
        const device = { ownerNo, deviceId, deviceName: deviceId, tags, ...fields, ...after(seconds) }
        const [result] = await underTest.store.putDevices([device])
        assert.ok(result)
        return result
      },
      async group(groupName: string, where: string, { window = null, seconds = 0 }: GroupOptions) {
        const group = { ownerNo, groupName, where, description: null, window }
        const { at, clock } = after(seconds)
        const { kind } = await underTest.store.putGroup({ ...group, ...by, at, most: 10 })
        while (await underTest.store.sweepGroups({ ownerNo, clock }));
        return kind
      },
      async open(windowName: string, seconds: number, ...zones: string[]) {
        const all = await underTest.store.listAllWindows()
        const window = all.find((each) => each.ownerNo === ownerNo && each.windowName === windowName)
        assert.ok(window)
        const openZones = writeOpenZones(zones)
        const { version } = window
        await underTest.store.setOpenZones([{ ownerNo, windowName, version, openZones, ...after(seconds) }])
      },
      async seen(deviceId: string) {
        const { total, executions } = await readQueue(underTest.store, deviceOf(deviceId))
        assert.equal(total, executions.length)
        return executions.map(({ jobExecutionId }) => jobExecutionId)
      },
      async ended(seconds: number) {
        const moved = await fireClocks(underTest.store, ownerNo, after(seconds))
        return moved.map(({ deviceId, execState }) => `${deviceId} ${execState}`)
      },
      async windowsOf(deviceId: string) {
        const found = await underTest.store.listDeviceWindows({ ownerNo, deviceIds: [deviceId] })
        return found.map(({ windowName, groupName }) => `${groupName ?? '-'} ${windowName}`).sort()
      },
    }
  }

  await t.test(
    'a device is offered nothing while its window is closed; running executions continue',
    async () => {
      const { put, open, seen, trigger, deviceOf, ownerNo } = await seed()
      const d1 = deviceOf('d1')
      assert.equal((await put('d1', { window: 'nights' })).value.window, 'nights')
      const { firstExecutionId: first } = await createOne(underTest.store, trigger(['d1', 'd2']))
      for (const take of [async () => underTest.store, underTest.reopen]) {
        const store = await take()
        assert.deepEqual([await seen('d1'), await seen('d2')], [[], [first + 1]])
        assert.equal((await report(store, startNext(d1))).kind, 'nothing-pending')
        await assertUnknown(store, d1, first)
      }
      const before = await readQueue(underTest.store, d1)
      await open('nights', 0, 'UTC')
      const [again] = await underTest.store.readQueues([{ ...d1, unlessMark: before.mark }])
      assert.ok(again !== 'unchanged', 'it has changed for whoever compares')
      assert.deepEqual(await seen('d1'), [first])
      assert.equal((await startedBy(underTest.store, d1))?.jobExecutionId, first)
      await open('nights', 1)
      const { firstExecutionId: second } = await createOne(underTest.store, trigger(['d1']))
      for (const take of [async () => underTest.store, underTest.reopen]) {
        const store = await take()
        assert.deepEqual(await seen('d1'), [first])
        await reportDone(store, update(d1, first, 'IN_PROGRESS', { statusDetails: { step: 'two' } }))
      }
      await reportDone(underTest.store, update(d1, first, 'SUCCEEDED'))
      assert.deepEqual(await seen('d1'), [])
      // A window that comes while something runs does not stop it either.
      assert.equal((await startedBy(underTest.store, deviceOf('d2')))?.jobExecutionId, first + 1)
      await put('d2', { window: 'days' })
      assert.deepEqual(await seen('d2'), [first + 1])
      await put('d1', { window: null })
      assert.deepEqual(await seen('d1'), [second])
      await assertRunsAddUp(underTest.store, ownerNo)
    },
  )

  await t.test('all that apply must be open: those of the run, the device and its groups', async () => {
    const { put, group, open, seen, trigger, windowsOf, ownerNo } = await seed()
    const store = underTest.store
    await put('d1', { window: 'nights', tags: ['kiosk'] })
    assert.equal(await group('kiosks', 'tag=kiosk', { window: 'days' }), 'put')
    assert.deepEqual(await windowsOf('d1'), ['- nights', 'kiosks days'])
    await store.putWindow(windowPut(ownerNo, 'third'))
    const { firstExecutionId: id } = await createOne(store, trigger(['d1'], { window: 'third' }))
    assert.deepEqual(await seen('d1'), [])
    await open('third', 0, 'UTC')
    await open('nights', 0, 'UTC')
    assert.deepEqual(await seen('d1'), [])
    await open('days', 0, 'Europe/Berlin')
    assert.deepEqual(await seen('d1'), [])
    await open('days', 0, 'UTC')
    assert.deepEqual(await seen('d1'), [id])
    await open('nights', 1)
    assert.deepEqual(await seen('d1'), [])
    const { firstExecutionId: urgent } = await createOne(store, trigger(['d1'], { window: anyTime }))
    for (const take of [async () => store, underTest.reopen]) {
      await take()
      assert.deepEqual(await seen('d1'), [urgent], 'a run that ignores windows ignores these, too')
    }
  })

  await t.test(
    'a device comes into a group and leaves it: by its tags, reports and other groups',
    async () => {
      const { put, group, seen, trigger, windowsOf, ownerNo, deviceOf } = await seed()
      await group('old', 'reported.fw<2.4', {})
      await group('held', 'group=old and not tag=free and online', { window: 'nights' })
      const { firstExecutionId: first } = await createOne(underTest.store, trigger(['d1', 'd2']))
      const fw = (deviceId: string, value: string, seconds = 1) =>
        underTest.store.recordAttributes([
          { device: deviceOf(deviceId), changes: { fw: value }, ...after(seconds) },
        ])
      assert.deepEqual(await seen('d1'), [first])
      await fw('d1', '2.3')
      assert.deepEqual(await seen('d1'), [])
      await put('d1', { tags: ['free'], seconds: 2 })
      assert.deepEqual(await seen('d1'), [first])
      await put('d1', { seconds: 3 })
      assert.deepEqual(await windowsOf('d1'), ['held nights'])
      await group('old', 'reported.fw<2.2', { seconds: 4 })
      assert.deepEqual([await windowsOf('d1'), await seen('d1')], [[], [first]])
      await fw('d2', '2.0', 5)
      assert.deepEqual(await seen('d2'), [])
      await underTest.store.deleteGroup({ ownerNo, groupName: 'held', ...by, at: startedAt })
      while (await underTest.store.sweepGroups({ ownerNo, clock: after(6).clock }));
      assert.deepEqual(await seen('d2'), [first + 1])
      const made = await put('d9', { seconds: 7 })
      assert.equal(made.created, true)
      assert.deepEqual(await windowsOf('d9'), [])
    },
  )

  await t.test('only a device that has changed is judged where it is reported or put', async () => {
    const { put, windowsOf, ownerNo, deviceOf } = await seed()
    const { store } = underTest
    const fw = (value: string, seconds: number) =>
      store.recordAttributes([{ device: deviceOf('d1'), changes: { fw: value }, ...after(seconds) }])
    await fw('2.3', 0)
    await put('d2', { tags: ['kiosk'] })
    // Until it is swept, nobody else has judged them.
    const group = { ownerNo, groupName: 'all', where: 'all', description: null, window: 'nights' }
    await store.putGroup({ ...group, ...by, at: startedAt, most: 10 })
    await fw('2.3', 1)
    await put('d2', { tags: ['kiosk'], seconds: 1 })
    assert.equal((await put('d2', { window: 'none', seconds: 1 })).isRefused, true)
    assert.deepEqual([await windowsOf('d1'), await windowsOf('d2')], [[], []])
    await fw('2.4', 2)
    await put('d2', { seconds: 2 })
    assert.deepEqual([await windowsOf('d1'), await windowsOf('d2')], [['all nights'], ['all nights']])
    while (await store.sweepGroups({ ownerNo, clock: after(3).clock }));
  })

  await t.test('devices are judged again only where a group with a window may have others', async () => {
    const { group, ownerNo } = await seed()
    const { store } = underTest
    const { clock } = after(1)
    const sweeps = async (groupName: string, where?: string, window: string | null = null) => {
      const named = { ownerNo, groupName, ...by, at: startedAt }
      if (where === undefined) await store.deleteGroup(named)
      else await store.putGroup({ ...named, where, description: null, window, most: 10 })
      let isSwept = false
      while (await store.sweepGroups({ ownerNo, clock })) isSwept = true
      return isSwept
    }
    await group('base', 'tag=x', {})
    await group('between', 'group=base', {})
    await group('apart', 'tag=x', {})
    assert.equal(await sweeps('held', 'group=between', 'nights'), true)
    assert.equal(await sweeps('apart', 'tag=y'), false)
    assert.equal(
      await sweeps('new', 'group=held'),
      false,
      'it refers to one with a window, not the other way',
    )
    assert.equal(await sweeps('none'), false, 'there is no such group')
    assert.equal(await sweeps('apart'), false)
    assert.equal(await sweeps('base', 'tag=y'), true, 'through another one')
    assert.equal(await sweeps('base', 'tag=y'), false, 'it is the same')
    assert.equal(await sweeps('base'), true)
    assert.equal(await sweeps('base', 'tag=z'), true, 'it is there again')
    assert.equal(await sweeps('held', 'group=between'), true, 'it had a window')
    assert.equal(await sweeps('base', 'tag=x'), false)
  })

  await t.test(
    'a change of a group reaches more devices than one batch has, also after a restart',
    async () => {
      const devices = Array.from({ length: 1100 }, (_, index) => `d${index}`)
      const { ownerNo } = await seed({}, devices)
      const put = { ownerNo, groupName: 'all', where: 'all', description: null, window: 'nights', ...by }
      await underTest.store.putGroup({ ...put, at: startedAt, most: 10 })
      const clock = after(1).clock
      assert.equal(await underTest.store.sweepGroups({ ownerNo, clock }), true)
      await underTest.reopen()
      let batches = 1
      while (await underTest.store.sweepGroups({ clock })) batches++
      assert.ok(batches >= 3)
      const list = { ownerNo, windowName: 'nights', limit: 2000 }
      assert.equal((await underTest.store.listWindowDevices({ ...list, after: 0 })).items.length, 1100)
      const page = await underTest.store.listWindowDevices({ ...list, after: 0, limit: 10 })
      assert.equal(page.items.length, 10)
      const inTokyo = await underTest.store.listWindowDevices({ ...list, after: 0, zones: ['Asia/Tokyo'] })
      assert.deepEqual(inTokyo.items, [])
      assert.deepEqual(await underTest.store.listUsedWindows({ ownerNo }), ['nights'])
    },
  )

  await t.test('the number of groups with a window is limited', async () => {
    const { ownerNo } = await seed()
    const put = async (groupName: string, window: string | null) => {
      const group = { ownerNo, groupName, where: 'tag=x', description: null, window, ...by, at: startedAt }
      return (await underTest.store.putGroup({ ...group, most: 10, mostWithWindow: 2 })).kind
    }
    assert.deepEqual([await put('a', 'nights'), await put('b', 'nights')], ['put', 'put'])
    assert.equal(await put('c', 'nights'), 'too-many-with-window')
    assert.equal(await put('c', null), 'put')
    assert.equal(await put('c', 'days'), 'too-many-with-window')
    assert.equal(await put('b', 'days'), 'put', 'it has one already')
    assert.equal(await put('b', null), 'put')
    assert.equal(await put('c', 'days'), 'put')
  })

  await chaosSubtest(t, 'many terms make the batches of a sweep smaller', async () => {
    const devices = Array.from({ length: 30 }, (_, index) => `d${index}`)
    const { group, ownerNo } = await seed({}, devices)
    const terms = Array.from({ length: 60 }, (_, index) => `tag=t${index}`).join(' or ')
    await group('many', terms, {})
    await group('more', Array.from({ length: 16 }, () => 'group=many').join(' or '), {})
    const { store } = underTest
    const wide = { ownerNo, where: 'group=more', description: null, window: 'nights', ...by, at: startedAt }
    for (let each = 0; each < 25; each++)
      await store.putGroup({ ...wide, groupName: `wide${each}`, most: 50 })
    let batches = 0
    while (await store.sweepGroups({ ownerNo, clock: after(1).clock })) batches++
    assert.equal(batches, 2)
  })

  await t.test('an unknown window is refused, and one that is in use is not deleted', async () => {
    const { put, group, ownerNo } = await seed()
    const { isRefused, isWithoutWindow } = await put('d1', { window: 'none' })
    assert.deepEqual([isRefused, isWithoutWindow], [true, true])
    assert.equal((await underTest.store.getDevice({ ownerNo, deviceId: 'd1' }))?.window, null)
    assert.equal((await put('new', { window: 'none' })).isRefused, true)
    assert.equal(await underTest.store.getDevice({ ownerNo, deviceId: 'new' }), undefined)
    assert.equal(await group('g', 'all', { window: 'none' }), 'unknown-window')
    for (const deviceId of ['d1', 'd2']) await put(deviceId, { window: 'nights', seconds: 1 })
    await group('g', 'tag=x', { window: 'nights' })
    const window = { ownerNo, windowName: 'nights', ...by, at: startedAt }
    const inUse = await underTest.store.deleteWindow(window)
    assert.ok(inUse.kind === 'in-use')
    const { deviceIds, devices, groupNames, jobNames } = inUse
    assert.deepEqual([deviceIds, devices, groupNames, jobNames], [['d1', 'd2'], 2, ['g'], []])
    await group('g', 'tag=x', { seconds: 2 })
    await put('d1', { window: null, seconds: 2 })
    const moment = after(3)
    await underTest.store.deleteDevice({ ownerNo, deviceId: 'd2', moment, actor: 'key:k1' })
    assert.equal((await underTest.store.deleteWindow(window)).kind, 'deleted')
  })

  await t.test('time limits stand still while the window of a device or a group is closed', async () => {
    const { put, group, open, ended, trigger } = await seed({ expireAfterSeconds: 60 })
    await put('d1', { window: 'nights' })
    await put('d2', { tags: ['kiosk'] })
    await group('kiosks', 'tag=kiosk', { window: 'nights' })
    await createOne(underTest.store, trigger(['d1', 'd2', 'd3']))
    assert.deepEqual(await ended(59), [])
    assert.deepEqual(await ended(60), ['d3 EXPIRED'])
    await underTest.reopen()
    assert.deepEqual(await ended(hour), [])
    await open('nights', hour, 'UTC')
    assert.deepEqual(await ended(hour + 59), [])
    assert.deepEqual(await ended(hour + 60), ['d1 EXPIRED', 'd2 EXPIRED'])
  })

  await t.test('a window counts for the time in which it has applied to the device', async () => {
    const { put, ended, trigger } = await seed({ expireAfterSeconds: 60 })
    await put('d1', { window: 'nights' })
    await createOne(underTest.store, trigger(['d1', 'd2', 'd3']))
    // d2 comes under the closed window after 20 s; d1 is no longer under it after an hour.
    await put('d2', { window: 'nights', seconds: 20 })
    assert.deepEqual(await ended(60), ['d3 EXPIRED'])
    await put('d1', { window: null, seconds: hour })
    await underTest.reopen()
    assert.deepEqual(await ended(hour + 59), [])
    assert.deepEqual(await ended(hour + 60), ['d1 EXPIRED'])
    await put('d2', { window: null, seconds: 2 * hour })
    assert.deepEqual(await ended(2 * hour + 39), [])
    assert.deepEqual(await ended(2 * hour + 40), ['d2 EXPIRED'])
  })

  await t.test('a deadline stands still as well, and not for a run that ignores windows', async () => {
    const { put, open, ended, trigger, deviceOf } = await seed({ deadlineSeconds: 60 })
    await put('d1', { window: 'nights' })
    await put('d2', { window: 'nights' })
    await createOne(underTest.store, trigger(['d1']))
    await createOne(underTest.store, trigger(['d2'], { window: anyTime }))
    assert.deepEqual(await ended(60), ['d2 TIMED_OUT'])
    await open('nights', hour, 'UTC')
    const begun = await startedBy(underTest.store, deviceOf('d1'), { moment: after(hour + 10) })
    assert.deepEqual(begun?.timesOutAt, after(hour + 60).clock)
    assert.deepEqual(await ended(hour + 60), ['d1 TIMED_OUT'])
  })
}
