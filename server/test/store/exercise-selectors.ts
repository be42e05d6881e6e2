// Attributes, and the devices that selectors find by them.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  matchesSelector,
  parseSelector,
  type SelectableDevice,
  type Selector,
} from '@jobcast/contract/selector'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { devices, selectors, toText } from '../../../contract/test/random-selector.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import {
  maxDepthOfGroups,
  maxTermsOfGroups,
  maxValuesOfGroups,
} from '../../src/domain/selector/replace-groups.ts'
import {
  by,
  devicePut,
  momentAt,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

export async function exerciseSelectors(t: TestContext, { store }: StoreUnderTest): Promise<void> {
  const listed = async (ownerNo: number, text: string, limit = 3) => {
    const filter = { where: parseSelector(text) }
    const found = await readAll(
      (slice: Slice<string>) => store.listDevices({ ownerNo, filter, slice }),
      limit,
    )
    return found.map(({ deviceId }) => deviceId)
  }
  const report = (
    ownerNo: number,
    deviceId: string,
    changes: Record<string, string | number | boolean | null>,
  ) => store.recordAttributes([{ device: { ownerNo, deviceId }, changes, at: startedAt }])

  await t.test('the version of groups differs after each put and deletion, of their owner only', async () => {
    const [{ ownerNo }, other] = [await seedOwner(store), await seedOwner(store)]
    const put = (groupName: string, where: string, at: number, owner = ownerNo) =>
      store.putGroup({ ownerNo: owner, groupName, where, description: null, ...by, at, most: 10 })
    const versions = [await store.groupsVersion({ ownerNo })]
    for (const change of [
      () => put('a', 'all', startedAt),
      () => put('a', 'online', startedAt),
      () => put('b', 'all', startedAt + 1),
      () => put('b', 'all', startedAt + 2),
      () => store.deleteGroup({ ownerNo, groupName: 'a', ...by, at: startedAt }),
    ]) {
      await change()
      versions.push(await store.groupsVersion({ ownerNo }))
    }
    assert.equal(new Set(versions).size, 6)
    await put('a', 'all', startedAt, other.ownerNo)
    assert.equal(await store.groupsVersion({ ownerNo }), versions.at(-1))
  })

  await t.test("attributes are set, reported, merged and removed; the owner's value wins", async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2'] })
    const key = { ownerNo, deviceId: 'd1' }
    assert.deepEqual(await report(ownerNo, 'd1', { fw: '2.4.0', ram: 512, beta: true }), [
      { kind: 'recorded' },
    ])
    await report(ownerNo, 'd1', { fw: '2.10.0', beta: null })
    assert.deepEqual((await store.getDevice(key))?.reportedAttributes, { fw: '2.10.0', ram: 512 })
    assert.deepEqual(await listed(ownerNo, 'fw>2.9'), ['d1'])

    await store.putDevices([{ ...devicePut(ownerNo, 'd1'), attributes: { fw: '1.0', site: 'lima "x"' } }])
    const device = await store.getDevice(key)
    assert.deepEqual(device?.attributes, { fw: '1.0', site: 'lima "x"' })
    assert.deepEqual(device?.reportedAttributes, { fw: '2.10.0', ram: 512 })
    assert.deepEqual(await listed(ownerNo, 'fw=1.0 and site="lima \\"x\\""'), ['d1'])
    await report(ownerNo, 'd1', { fw: '3.0' })
    assert.deepEqual(await listed(ownerNo, 'fw=3.0'), [])

    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.deepEqual(await listed(ownerNo, 'fw=3.0'), ['d1'])
    assert.deepEqual(await listed(ownerNo, 'not fw=3.0'), ['d2'])
    await store.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt), actor: 'key k1' })
    await store.putDevices([devicePut(ownerNo, 'd1')])
    assert.deepEqual((await store.getDevice(key))?.reportedAttributes, {})
    assert.deepEqual(await listed(ownerNo, 'fw=3.0'), [])
  })

  await t.test(
    "own and reported name one side; a bare name is the owner's value, else the reported one",
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2', 'd3'] })
      await report(ownerNo, 'd1', { fw: 'v2.10.0' })
      await report(ownerNo, 'd2', { fw: 'v2.9.0', kernel: '6.1' })
      await store.putDevices([
        { ...devicePut(ownerNo, 'd1'), attributes: { fw: '1.0' } },
        { ...devicePut(ownerNo, 'd3'), attributes: { fw: 'v2.10', site: 'lima' } },
      ])
      for (const [text, expected] of [
        ['fw<2', ['d1']],
        ['fw>=v2.9', ['d2', 'd3']],
        ['reported.fw>2.9', ['d1']],
        ['reported.fw>=v2.9', ['d1', 'd2']],
        ['reported.fw~v2.*', ['d1', 'd2']],
        ['reported.fw in (2.9, 2.10.0)', ['d1', 'd2']],
        ['reported.fw!=2.10', ['d2']],
        ['own.fw=2.10', ['d3']],
        ['own.fw!=2.10', ['d1']],
        ['not reported.fw>0', ['d3']],
      ] as const) {
        assert.deepEqual(await listed(ownerNo, text), expected, text)
        const { total } = await store.countDevices({ ownerNo, where: parseSelector(text) })
        assert.equal(total, expected.length, text)
      }
      const names = ['fw', 'reported.fw', 'own.fw', 'reported.kernel', 'own.kernel', 'reported.site', 'color']
      assert.deepEqual(await store.findUnknownNames({ ownerNo, names }), [
        'own.kernel',
        'reported.site',
        'color',
      ])
    },
  )

  await t.test('a device that is unknown or reports too many attributes changes nothing', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1'] })
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`a${n}`, n]))
    const outcomes = await store.recordAttributes([
      { device: { ownerNo, deviceId: 'd1' }, changes: many, at: startedAt },
      { device: { ownerNo, deviceId: 'nobody' }, changes: { a: 1 }, at: startedAt },
      { device: { ownerNo, deviceId: 'd1' }, changes: { b: 1, c: 2, d: 3, e: 4, f: 5 }, at: startedAt },
      {
        device: { ownerNo, deviceId: 'd1' },
        changes: { a0: null, b: 1, c: 2, d: 3, e: 4, f: 5 },
        at: startedAt,
      },
    ])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['recorded', 'unknown-device', 'too-many', 'recorded'],
    )
    assert.equal(
      Object.keys((await store.getDevice({ ownerNo, deviceId: 'd1' }))?.reportedAttributes ?? {}).length,
      64,
    )
  })

  await t.test('what was reported again as it was causes no event', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1'] })
    const before = await store.getEventBounds({ ownerNo })
    await report(ownerNo, 'd1', { fw: '1', ram: 5 })
    await report(ownerNo, 'd1', { fw: '1', ram: 6, old: null })
    await report(ownerNo, 'd1', { fw: '1' })
    const slice = { after: before.newest, limit: 10 }
    const { events } = await store.listEvents({ ownerNo, filter: {}, slice })
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [
        ['device.updated', { deviceId: 'd1', reportedAttributes: { fw: '1', ram: 5 } }],
        ['device.updated', { deviceId: 'd1', reportedAttributes: { ram: 6 } }],
      ],
    )
  })

  await t.test('counts say how many match, are online, and which names nobody has', async () => {
    const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2', 'd3'] })
    await report(ownerNo, 'd1', { site: 'lima' })
    await report(ownerNo, 'd2', { site: 'lima' })
    const presence = { ownerNo, online: true, at: startedAt, transport: 'mqtt' as const }
    await store.recordPresence([{ ...presence, deviceId: 'd2', session: momentAt(1).clock }])
    assert.deepEqual(await store.countDevices({ ownerNo, where: parseSelector('site=lima or color=red') }), {
      ...{ total: 2, online: 1, busy: 0, unknownNames: ['color'] },
      sample: ['d1', 'd2'],
    })
    assert.deepEqual(await listed(ownerNo, 'site=lima and online'), ['d2'])
    const other = await seedOwner(store, { devices: ['d1'] })
    assert.deepEqual(await listed(other.ownerNo, 'all'), ['d1'])
    assert.deepEqual(await listed(other.ownerNo, 'site=lima'), [])
  })

  await chaosSubtest(t, 'terms that match thousands of devices are counted as they match', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const numbers = Array.from({ length: 5600 }, (_, n) => n)
    const attributesOf = (n: number) => ({
      n,
      even: n % 2 === 0,
      ...(n % 10 !== 0 && { fw: `v2.${n % 20}` }),
    })
    await store.putDevices(
      numbers.map((n) => ({
        ...devicePut(ownerNo, `d${n}`),
        attributes: attributesOf(n),
        tags: n < 9 ? ['few'] : [],
      })),
    )
    await report(ownerNo, 'd3', { n: 7, fw: '9.0' })
    for (const [text, isFound] of [
      ['n>=100 and n<5500', (n) => n >= 100 && n < 5500],
      ['n>=0 and fw>=2.0 and not tag=few', (n) => n % 10 !== 0 && n >= 9],
      ['n!=5 and fw!=2.7', (n) => n !== 5 && n % 10 !== 0 && n % 20 !== 7],
      ['n>=0 and own.n<5590 and (even=true or n=1)', (n) => n < 5590 && (n % 2 === 0 || n === 1)],
      ['n>=0 and reported.n>=0 and not online', (n) => n === 3],
      ['n>=0 and own.fw!=9 and n>=0 and n<6000 and even!=x', (n) => n % 10 !== 0],
    ] as [string, (n: number) => boolean][]) {
      const { total } = await store.countDevices({ ownerNo, where: parseSelector(text) })
      assert.equal(total, numbers.filter(isFound).length, text)
    }
  })

  // A schedule with a selector that only the database refused could be neither run nor paused for a reason.
  await chaosSubtest(
    t,
    'the deepest and the widest selector that groups may add up to can be run',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: ['d1', 'd2'] })
      await store.putDevices([{ ...devicePut(ownerNo, 'd1'), tags: ['kiosk'], attributes: { site: 'v7' } }])
      const nest = (inner: Selector): Selector => {
        return { kind: 'not', of: { kind: 'or', of: [parseSelector('site=x'), inner] } }
      }
      let deepest = parseSelector('tag=kiosk')
      for (let depth = 0; depth < maxDepthOfGroups; depth += 2) deepest = nest(deepest)
      const terms = Array.from({ length: maxTermsOfGroups }, (_, each) => parseSelector(`site=v${each}`))
      const values = (from: number) => Array.from({ length: 1000 }, (_, each) => `v${from + each}`)
      const lists = Array.from({ length: maxValuesOfGroups / 1000 }, (_, each) => values(each * 1000))
      const wide = lists.map((values): Selector => ({ kind: 'in', name: 'site', values }))
      for (const where of [deepest, { kind: 'or', of: terms }, { kind: 'or', of: wide }] as Selector[]) {
        assert.equal((await store.countDevices({ ownerNo, where })).total, 1)
        const slice = { limit: 9, after: undefined }
        assert.equal((await store.selectDevices({ ownerNo, where, slice })).items.length, 1)
        assert.deepEqual(await store.matchDevices({ ownerNo, where, deviceIds: ['d1', 'd2'] }), ['d1'])
      }
    },
  )

  await t.test('random selectors find what matches in memory', async () => {
    const fleet = fc.uniqueArray(devices, {
      minLength: 1,
      maxLength: 12,
      selector: ({ deviceId }) => deviceId,
    })
    await fc.assert(
      fc.asyncProperty(fleet, fc.array(selectors, { minLength: 1, maxLength: 8 }), async (fleet, wanted) => {
        const { ownerNo } = await seedOwner(store, { devices: [] })
        await store.putDevices(
          fleet.map(({ deviceId, deviceName, tags, attributes }) => {
            const put = { ownerNo, deviceId, deviceName, tags: [...tags], at: startedAt }
            return { ...put, attributes: { ...attributes } }
          }),
        )
        for (const { deviceId, reportedAttributes } of fleet) {
          await report(ownerNo, deviceId, { ...reportedAttributes })
        }
        const offline = fleet.map((each): SelectableDevice => ({ ...each, online: false }))
        for (const selector of wanted) {
          const where = parseSelector(toText(selector))
          const expected = offline
            .filter((each) => matchesSelector(where, each))
            .map(({ deviceId }) => deviceId)
          const sorted = expected.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          assert.deepEqual(await listed(ownerNo, toText(selector)), sorted, toText(selector))
          assert.equal(
            (await store.countDevices({ ownerNo, where })).total,
            expected.length,
            toText(selector),
          )
        }
      }),
      randomInputs({ test: 5, chaos: 500 }),
    )
  })
}
