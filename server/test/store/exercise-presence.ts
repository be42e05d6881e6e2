// Presence in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Transport } from '../../src/domain/device/ports/presence.ts'
import {
  devicePut,
  momentAt,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const neverSeen = { online: false, since: null, lastSeenAt: null, transport: null }

export async function exercisePresence(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const presenceOf = async (ownerNo: number, deviceId: string) =>
    (await underTest.store.getDevice({ ownerNo, deviceId }))?.presence
  const change = (
    ownerNo: number,
    deviceId: string,
    online: boolean,
    after: number,
    transport: Transport = 'mqtt',
  ) => {
    const at = startedAt + after
    return {
      ownerNo,
      deviceId,
      online,
      at,
      transport,
      session: transport === 'http' ? null : steadyInstant(at),
    }
  }

  await t.test('a device is online or offline since its last change, and was seen last then', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    assert.deepEqual(await presenceOf(ownerNo, 'd1'), neverSeen)
    const steps: [boolean, Transport][] = [
      [true, 'mqtt'],
      [true, 'websocket'],
      [false, 'websocket'],
      [true, 'http'],
    ]
    for (const [index, [online, transport]] of steps.entries()) {
      await store.recordPresence([change(ownerNo, 'd1', online, index, transport)])
      const at = startedAt + index
      assert.deepEqual(await presenceOf(ownerNo, 'd1'), { online, since: at, lastSeenAt: at, transport })
    }
    assert.deepEqual(await presenceOf(ownerNo, 'd2'), neverSeen)
    assert.equal((await store.getDevice({ ownerNo, deviceId: 'd1' }))?.updatedAt, startedAt)
  })

  await t.test(
    'changes of one list take effect in its order, and one of a deleted device does not matter',
    async () => {
      const { store } = underTest
      const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
      await store.deleteDevice({
        ownerNo: mine.ownerNo,
        deviceId: 'd3',
        moment: momentAt(startedAt),
        actor: 'key k1',
      })
      await store.recordPresence([
        change(mine.ownerNo, 'd1', true, 1),
        change(mine.ownerNo, 'nobody', true, 1),
        change(mine.ownerNo, 'd3', true, 1),
        change(mine.ownerNo, 'd1', false, 2),
        change(mine.ownerNo, 'd2', false, 1),
        change(mine.ownerNo, 'd2', true, 2),
      ])
      const online = async (deviceId: string) => (await presenceOf(mine.ownerNo, deviceId))?.online
      assert.deepEqual([await online('d1'), await online('d2'), await online('d3')], [false, true, undefined])
      assert.deepEqual(await presenceOf(theirs.ownerNo, 'd2'), neverSeen)
      await store.recordPresence([])
    },
  )

  await t.test('a device put again after its deletion was never seen', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    await store.recordPresence([change(ownerNo, 'd1', true, 1)])
    await store.putDevices([devicePut(ownerNo, 'd1', 'renamed')])
    assert.equal((await presenceOf(ownerNo, 'd1'))?.online, true)
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt), actor: 'key k1' })
    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.deepEqual(await presenceOf(ownerNo, 'd1'), neverSeen)
  })

  await t.test(
    'devices are listed by whether they are online, with and without a tag, page by page',
    async () => {
      const { store } = underTest
      const devices = Array.from({ length: 23 }, (_, index) => `d${String(index).padStart(2, '0')}`)
      const { ownerNo } = await seedOwner(store, { devices: [] })
      await seedOwner(store, { devices })
      const isTagged = (index: number) => index % 3 === 0
      const isOnline = (index: number) => index % 5 < 2
      const isGone = (index: number) => index === 6 || index === 7
      await store.putDevices(
        devices.map((deviceId, index) => ({
          ...devicePut(ownerNo, deviceId),
          tags: isTagged(index) ? ['shop', 'other'] : ['other'],
        })),
      )
      await store.recordPresence(
        devices.flatMap((deviceId, index) => {
          const came = change(ownerNo, deviceId, true, 1)
          return isOnline(index) ? [came] : [came, change(ownerNo, deviceId, false, 2)]
        }),
      )
      for (const [index, deviceId] of devices.entries()) {
        if (isGone(index))
          await store.deleteDevice({ ownerNo, deviceId, moment: momentAt(startedAt), actor: 'key k1' })
      }
      for (const online of [true, false, undefined]) {
        for (const tag of ['shop', 'other', 'nothing', undefined]) {
          const filter = { ...(online !== undefined && { online }), ...(tag !== undefined && { tag }) }
          const expected = devices.filter(
            (_, index) =>
              !isGone(index) &&
              (online === undefined || isOnline(index) === online) &&
              (tag === undefined || tag === 'other' || (tag === 'shop' && isTagged(index))),
          )
          for (const limit of [1, 4, 100]) {
            const read = (slice: Slice<string>) => store.listDevices({ ownerNo, filter, slice })
            const listed = await readAll(read, limit)
            assert.deepEqual(
              listed.map((device) => device.deviceId),
              expected,
              JSON.stringify(filter),
            )
            assert.ok(online === undefined || listed.every(({ presence }) => presence.online === online))
          }
        }
      }
    },
  )

  await t.test('after a start all devices are offline since then, and lastSeenAt is kept', async () => {
    const { ownerNo } = await seedOwner(underTest.store)
    await underTest.store.recordPresence([
      change(ownerNo, 'd1', true, 1),
      change(ownerNo, 'd2', true, 1, 'http'),
      change(ownerNo, 'd2', false, 2, 'http'),
    ])
    const store = await underTest.reopen()
    assert.equal((await presenceOf(ownerNo, 'd1'))?.online, true)
    await store.setAllOffline({ at: startedAt + 9 })
    const ends = { online: false, since: startedAt + 9, lastSeenAt: startedAt + 1, transport: 'mqtt' }
    assert.deepEqual(await presenceOf(ownerNo, 'd1'), ends)
    const before = { online: false, since: startedAt + 2, lastSeenAt: startedAt + 2, transport: 'http' }
    assert.deepEqual(await presenceOf(ownerNo, 'd2'), before)
    assert.deepEqual(await presenceOf(ownerNo, 'd3'), neverSeen)
    const online = (slice: Slice<string>) => store.listDevices({ ownerNo, filter: { online: true }, slice })
    assert.deepEqual(await readAll(online), [])
    await store.setAllOffline({ at: startedAt + 10 })
    const { events } = await store.listEvents({
      ownerNo,
      filter: { types: ['device.offline'] },
      slice: { after: 0, limit: 9 },
    })
    assert.deepEqual(
      events.map(({ at }) => at - startedAt),
      [2, 9],
    )
  })
}
