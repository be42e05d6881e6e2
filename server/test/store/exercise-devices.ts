// Devices in every store: names, tags, tokens.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { jobTag } from '../../src/domain/common/entity-tag.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import { deviceTag, ownFields } from '../../src/domain/device/own-fields.ts'
import type { StoredDevice } from '../../src/domain/device/ports/devices.ts'
import { webhookTag } from '../../src/domain/webhook/webhook-tag.ts'
import {
  allExecutions,
  createOne,
  devicePut,
  emptyContent,
  momentAt,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'
import { createWebhook, webhookPut } from './webhook-steps.ts'

const now = momentAt(startedAt)

export async function exerciseDevices(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest
  const idsByTag = async (ownerNo: number, tag: string) =>
    (await readAll((slice: Slice<string>) => store.listDevices({ ownerNo, filter: { tag }, slice }), 2)).map(
      (device) => device.deviceId,
    )

  await t.test(
    'a put with an expected tag only changes a resource with this tag, for jobs, devices and webhooks',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: ['j'], devices: ['d'] })
      const put = devicePut(ownerNo, 'd', 'new')
      const tag = deviceTag({ deviceName: 'name of d', tags: [], attributes: {} })
      const puts = [
        { ...put, expected: ['other'] },
        { ...put, expected: [tag] },
        { ...put, expected: [tag] },
        { ...devicePut(ownerNo, 'none'), expected: ['*'] },
        { ...devicePut(ownerNo, 'absent'), expected: 'nothing' as const },
        { ...devicePut(ownerNo, 'absent'), expected: 'nothing' as const },
      ]
      const done = await store.putDevices(puts)
      assert.deepEqual(
        done.map(({ isRefused }) => isRefused ?? false),
        [true, false, true, true, false, true],
      )
      assert.equal((await store.getDevice({ ownerNo, deviceId: 'd' }))?.deviceName, 'new')
      assert.equal(await store.getDevice({ ownerNo, deviceId: 'none' }), undefined)
      const content = { ...emptyContent, description: 'new' }
      const job = { ownerNo, jobName: 'j', content, at: startedAt }
      assert.ok((await store.putJob({ ...job, expected: ['other'] })).isRefused)
      assert.ok((await store.putJob({ ...job, jobName: 'none', expected: ['*'] })).isRefused)
      assert.ok((await store.putJob({ ...job, expected: 'nothing' })).isRefused)
      assert.ok((await store.putJob({ ...job, jobName: 'new', expected: 'nothing' })).created)
      assert.equal((await store.getJob({ ownerNo, jobName: 'j' }))?.description, '')
      assert.equal(await store.getJob({ ownerNo, jobName: 'none' }), undefined)
      assert.ok(!(await store.putJob({ ...job, expected: [jobTag({ version: 1 })] })).isRefused)
      await createWebhook(store, ownerNo, 'w')
      const webhook = webhookPut(ownerNo, 'w')
      assert.equal(await store.putWebhook({ ...webhook, expected: ['other'] }), 'not-expected')
      const taken = await store.putWebhook({ ...webhook, expected: ['x', webhookTag(webhook.content)] })
      assert.ok(typeof taken === 'object')
    },
  )

  await t.test('a device is created by its first put and changed by the next', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const put = { ownerNo, deviceId: 'd1', deviceName: 'one', tags: ['a', 'b'], at: startedAt }
    const made: StoredDevice = {
      ...ownFields(put),
      deviceId: 'd1',
      reportedAttributes: {},
      credentialCreatedAt: null,
      credentialCreatedBy: null,
      certificateRevokedAt: null,
      presence: { online: false, since: null, lastSeenAt: null, transport: null },
      createdAt: startedAt,
      updatedAt: startedAt,
    }
    const changed = { ...made, deviceName: 'two', tags: [], updatedAt: startedAt + 5 }
    assert.deepEqual(
      await store.putDevices([put, { ...put, deviceName: 'two', tags: [], at: startedAt + 5 }]),
      [
        { created: true, value: made },
        { created: false, value: changed },
      ],
    )
    assert.deepEqual(await store.getDevice({ ownerNo, deviceId: 'd1' }), changed)
    assert.equal(await store.getDevice({ ownerNo, deviceId: 'd2' }), undefined)
  })

  await t.test('a device put again after its deletion is a new one: no token, a new createdAt', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1'] })
    const token = {
      tokenId: `id of ${ownerNo}`,
      tokenHash: new Uint8Array(32),
      at: startedAt + 1,
      createdBy: null,
    }
    assert.equal(await store.setDeviceToken({ ownerNo, deviceId: 'd1', token, at: token.at }), true)
    assert.equal((await store.getDevice({ ownerNo, deviceId: 'd1' }))?.credentialCreatedAt, startedAt + 1)
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: now, actor: 'key k1' })
    assert.equal(await store.getDevice({ ownerNo, deviceId: 'd1' }), undefined)
    assert.equal(await store.setDeviceToken({ ownerNo, deviceId: 'd1', token, at: token.at }), false)
    const [put] = await store.putDevices([{ ...devicePut(ownerNo, 'd1'), at: startedAt + 9 }])
    assert.equal(put?.created, true)
    assert.equal(put?.value.createdAt, startedAt + 9)
    assert.equal(put?.value.credentialCreatedAt, null)
  })

  await t.test('executions keep the name their device had when they were launched', async () => {
    const { trigger, ownerNo } = await seedOwner(store, { devices: ['d1', 'd2'] })
    const names = ['one', 'two', 'three', 'two']
    for (const deviceName of names) {
      // Sent at once, in this order: a rename counts for what is sent after it.
      const [, , launched] = await Promise.all([
        store.putDevices([devicePut(ownerNo, 'd1', 'between')]),
        store.putDevices([devicePut(ownerNo, 'd1', deviceName)]),
        createOne(store, trigger(['d1', 'd2'])),
      ])
      assert.equal(launched.devices.at(0)?.deviceName, deviceName)
    }
    const listed = await allExecutions(store, ownerNo, { deviceId: 'd1' })
    assert.deepEqual(
      listed.map((execution) => execution.deviceName),
      names.toReversed(),
    )
  })

  await t.test('devices are listed in the order of their ids as bytes, without the deleted', async () => {
    const ids = ['a', 'B', 'ä', 'z', '10', '9', 'A b', '😀', '\uffee', 'ab', '_', '%']
    const { ownerNo } = await seedOwner(store, { devices: ids })
    await store.deleteDevice({ ownerNo, deviceId: 'z', moment: now, actor: 'key k1' })
    const sorted = ids
      .filter((id) => id !== 'z')
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    for (const limit of [1, 3, 50]) {
      const listed = await readAll(
        (slice: Slice<string>) => store.listDevices({ ownerNo, filter: {}, slice }),
        limit,
      )
      assert.deepEqual(
        listed.map((device) => device.deviceId),
        sorted,
      )
    }
  })

  await t.test('a list finds its existing devices, and none of another owner', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['b', 'B', 'gone', 'other'] })
    await seedOwner(store, { devices: ['foreign'] })
    await store.deleteDevice({ ownerNo, deviceId: 'gone', moment: now, actor: 'key k' })
    const deviceIds = ['b', 'foreign', 'gone', 'never', 'B', 'b']
    const named = await store.listNamedDevices({ ownerNo, deviceIds })
    const { items } = await store.selectDevices({
      ...{ ownerNo, where: { kind: 'in', name: 'deviceId', values: deviceIds } },
      slice: { after: undefined, limit: 10 },
    })
    assert.deepEqual(
      named,
      items.map(({ deviceNo, deviceId }) => ({ deviceNo, deviceId })),
    )
    assert.deepEqual(
      named.map(({ deviceId }) => deviceId),
      ['B', 'b'],
    )
    assert.deepEqual(await store.listNamedDevices({ ownerNo, deviceIds: [] }), [])
  })

  await t.test('a tag finds exactly the devices that have it now', async () => {
    const tags = fc.uniqueArray(fc.constantFrom('a', 'b', 'ü', '%'))
    const put = fc.record({ deviceId: fc.constantFrom('d1', 'd2', 'd3', 'd4'), tags: fc.option(tags) })
    await fc.assert(
      fc.asyncProperty(fc.array(put, { maxLength: 15 }), async (puts) => {
        const { ownerNo } = await seedOwner(store, { devices: [] })
        const tagsOf = new Map<string, string[]>()
        for (const { deviceId, tags } of puts) {
          if (tags === null) {
            assert.equal(
              (await store.deleteDevice({ ownerNo, deviceId, moment: now, actor: 'key k1' })) !== undefined,
              tagsOf.delete(deviceId),
            )
          } else {
            await store.putDevices([{ ...devicePut(ownerNo, deviceId), tags }])
            tagsOf.set(deviceId, tags)
          }
        }
        for (const tag of ['a', 'b', 'ü', '%', 'unknown']) {
          const expected = [...tagsOf].filter(([, tags]) => tags.includes(tag)).map(([deviceId]) => deviceId)
          assert.deepEqual(await idsByTag(ownerNo, tag), expected.sort())
        }
      }),
      randomInputs({ test: 5, chaos: 200 }),
    )
  })

  await t.test("another owner's device of the same id is another device", async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    await store.putDevices([{ ...devicePut(mine.ownerNo, 'd1', 'mine'), tags: ['tag'] }])
    assert.equal(
      (await store.getDevice({ ownerNo: theirs.ownerNo, deviceId: 'd1' }))?.deviceName,
      'name of d1',
    )
    assert.deepEqual(await idsByTag(theirs.ownerNo, 'tag'), [])
    await store.deleteDevice({ ownerNo: theirs.ownerNo, deviceId: 'd1', moment: now, actor: 'key k1' })
    assert.deepEqual(await idsByTag(mine.ownerNo, 'tag'), ['d1'])
  })
}
