// Webhooks in every store. The cursor and the attempts are written atomically.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DeliveryState } from '@jobcast/contract'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { AttemptResult, StoredDelivery, StoredWebhook } from '../../src/domain/webhook/ports/webhooks.ts'
import { by, devicePut, readAll, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'
import { attemptAt, createWebhook, day, progressOf, resultOf, webhookPut } from './webhook-steps.ts'

const idsOf = (deliveries: { eventId: number }[]) => deliveries.map(({ eventId }) => eventId)

function deliveriesOf(
  store: Store,
  webhook: StoredWebhook,
  state?: DeliveryState,
  limit?: number,
): Promise<StoredDelivery[]> {
  return readAll(async (slice: Slice<number>) => {
    const found = await store.listDeliveries({ ...webhook, state, slice })
    assert.ok(found)
    return found
  }, limit)
}

async function pendingOf(store: Store, { webhookNo }: StoredWebhook) {
  return readAll((slice: Slice<number>) => store.listPendingDeliveries({ webhookNo, slice }), 2)
}

/** An owner with events of its own: each device is one. */
async function seedEvents(store: Store, count: number) {
  const devices = Array.from({ length: count }, (_, index) => `d${index}`)
  const seed = await seedOwner(store, { devices })
  const { events } = await store.listEvents({
    ownerNo: seed.ownerNo,
    filter: { types: ['device.*'] },
    slice: { after: 0, limit: count },
  })
  assert.equal(events.length, count)
  return { ...seed, eventIds: idsOf(events) }
}

/** Of a result that is not DELIVERED. */
const lastFailure = { at: startedAt, status: 500, error: 'the receiver answered 500' }

export async function exerciseWebhooks(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest
  const record = (webhook: StoredWebhook, results: AttemptResult[], more = {}) =>
    store.recordAttempts([progressOf(webhook, { results, ...more })])
  const read = async (webhook: StoredWebhook) => {
    const found = await store.getWebhook(webhook)
    assert.ok(found)
    return found
  }

  await t.test('a webhook is as it was put, and begins behind the newest event of its owner', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 3)
    const content = {
      url: 'https://a.example',
      eventTypes: ['run.*'],
      jobName: 'restart',
      deviceId: 'd1',
      format: 'slack' as const,
    }
    const webhook = await createWebhook(store, ownerNo, 'all', { content })
    assert.deepEqual(webhook, {
      ...content,
      webhookNo: webhook.webhookNo,
      ownerNo,
      ownerId: webhook.ownerId,
      webhookName: 'all',
      secret: 'whsec_new',
      oldSecret: null,
      oldSecretUntil: null,
      restriction: null,
      pausedBecause: null,
      pausedAt: null,
      lastDeliveredAt: null,
      failingSince: null,
      lastFailure: null,
      cursor: eventIds.at(-1),
      round: 1,
      createdAt: startedAt,
      updatedAt: startedAt,
      createdBy: 'key:k1',
      createdBySession: null,
    })
    assert.deepEqual(await read(webhook), webhook)
    const { ownerNo: another } = await seedOwner(store, { jobs: [], devices: [] })
    assert.equal((await createWebhook(store, another)).cursor, 0)
    assert.equal(await store.getWebhook({ ownerNo: another, webhookName: 'all' }), undefined)
  })

  await t.test(
    'a webhook that is put again has the new content and keeps its cursor and secret',
    async () => {
      const { ownerNo } = await seedEvents(store, 1)
      const before = await createWebhook(store, ownerNo, 'w', { secret: 'whsec_mine' })
      assert.equal(before.secret, 'whsec_mine')
      await store.putDevices([devicePut(ownerNo, 'more')])
      const content = { ...webhookPut(ownerNo, 'w').content, url: 'https://b.example', jobName: 'j' }
      const put = await store.putWebhook(webhookPut(ownerNo, 'w', { content, at: startedAt + 1 }))
      const expected = { ...before, ...content, updatedAt: startedAt + 1 }
      assert.deepEqual(put, { created: false, changed: true, value: expected })
      const again = await store.putWebhook(webhookPut(ownerNo, 'w', { content, at: startedAt + 1 }))
      assert.deepEqual(again, { created: false, changed: false, value: expected })
    },
  )

  await t.test('a restricted webhook keeps its restriction, and is put only from within', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const restriction = { jobs: ['our-*'], where: 'tag=ours' }
    const created = await createWebhook(store, ownerNo, 'w', { restriction })
    assert.deepEqual(created.restriction, restriction)
    const content = { ...webhookPut(ownerNo, 'w').content, jobName: 'j' }
    const put = (more: object, webhookName = 'w') =>
      store.putWebhook(webhookPut(ownerNo, webhookName, { content, ...more }))
    assert.equal(await put({ restriction: { jobs: ['our-job'] } }), 'unknown')
    assert.equal(await put({ restriction: { where: 'tag=other' } }), 'unknown')
    assert.equal(await put({ mayCreate: false }, 'none'), 'unknown')
    for (const other of [null, { jobs: ['o*'] }, restriction]) {
      const again = await put({ restriction: other, mayCreate: false })
      assert.ok(typeof again === 'object' && !again.created)
      assert.deepEqual(again.value.restriction, restriction)
    }
    const unrestricted = await createWebhook(store, ownerNo, 'all')
    assert.equal(await put({ restriction }, unrestricted.webhookName), 'unknown')
  })

  await t.test(
    'a secret that is replaced is kept beside the new one; the same one replaces none',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
      await createWebhook(store, ownerNo, 'w', { secret: 'whsec_1' })
      const secretsAfter = async (secret: string) => {
        const put = await store.putWebhook(webhookPut(ownerNo, 'w', { secret }))
        assert.ok(typeof put === 'object')
        return [put.value.secret, put.value.oldSecret, put.value.oldSecretUntil]
      }
      assert.deepEqual(await secretsAfter('whsec_1'), ['whsec_1', null, null])
      assert.deepEqual(await secretsAfter('whsec_2'), ['whsec_2', 'whsec_1', startedAt + day])
      const change = { secret: 'whsec_3', oldSecretUntil: startedAt + 7, at: startedAt + 5 }
      const changed = await store.setWebhookSecret({ ...by, ownerNo, webhookName: 'w', ...change })
      assert.deepEqual(
        [changed?.secret, changed?.oldSecret, changed?.oldSecretUntil, changed?.updatedAt],
        ['whsec_3', 'whsec_2', startedAt + 7, startedAt + 5],
      )
      assert.equal(
        await store.setWebhookSecret({ ...by, ownerNo, webhookName: 'none', ...change }),
        undefined,
      )
    },
  )

  await t.test('an owner has only so many; one that is there can be put again', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    for (const name of ['a', 'b']) await createWebhook(store, ownerNo, name, { maxWebhooks: 2 })
    assert.equal(await store.putWebhook(webhookPut(ownerNo, 'c', { maxWebhooks: 2 })), 'too-many')
    const again = await store.putWebhook(webhookPut(ownerNo, 'b', { maxWebhooks: 2 }))
    assert.ok(typeof again === 'object' && !again.created)
    const names = await readAll((slice: Slice<string>) => store.listWebhooks({ ownerNo, slice }), 1)
    assert.deepEqual(
      names.map(({ webhookName }) => webhookName),
      ['a', 'b'],
    )
  })

  await t.test('paused it is not active; a second pause changes nothing; resumed it is', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const webhook = await createWebhook(store, ownerNo)
    const isActive = async () =>
      (await store.listActiveWebhooks()).some(({ webhookNo }) => webhookNo === webhook.webhookNo)
    assert.ok(await isActive())
    assert.deepEqual(await store.getActiveWebhook({ webhookNo: webhook.webhookNo }), {
      webhook,
      lastTried: 0,
    })
    const paused = await store.pauseWebhook({ ...by, ...webhook, at: startedAt + 1 })
    assert.deepEqual(paused, {
      ...webhook,
      pausedBecause: 'owner',
      pausedAt: startedAt + 1,
      updatedAt: startedAt + 1,
    })
    assert.deepEqual(await store.pauseWebhook({ ...by, ...webhook, at: startedAt + 2 }), paused)
    assert.equal(await store.getActiveWebhook({ webhookNo: webhook.webhookNo }), undefined)
    assert.ok(!(await isActive()))
    const resumed = await store.resumeWebhook({ ...by, ...webhook, at: startedAt + 3 })
    assert.deepEqual(resumed, { ...webhook, updatedAt: startedAt + 3 })
    assert.ok(await isActive())
    for (const step of [store.pauseWebhook, store.resumeWebhook]) {
      assert.equal(await step({ ...by, ownerNo, webhookName: 'none', at: startedAt }), undefined)
    }
  })

  await t.test('results, the cursor and the state of the receiver are written together', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 3)
    const [one = 0, two = 0, three = 0] = eventIds
    const webhook = await createWebhook(store, ownerNo)
    const replayed = await store.replayWebhook({ ...by, ...webhook, after: one - 1, at: startedAt })
    assert.ok(replayed)
    const results = [
      resultOf(one, 'DELIVERED'),
      resultOf(two, 'PENDING', { subject: 's' }),
      resultOf(three, 'FAILED'),
    ]
    await record(replayed, results, {
      cursor: two,
      lastDeliveredAt: startedAt + 1,
      failingSince: startedAt + 2,
    })
    assert.deepEqual(await read(webhook), {
      ...replayed,
      cursor: two,
      lastDeliveredAt: startedAt + 1,
      failingSince: startedAt + 2,
      lastFailure,
    })
    assert.deepEqual(await pendingOf(store, webhook), [
      { eventId: two, type: 'device.created', subject: 's', tries: 1, nextAt: startedAt + 5000 },
    ])
    assert.equal((await store.getActiveWebhook({ webhookNo: webhook.webhookNo }))?.lastTried, three)
    const range = { round: replayed.round, from: one, to: two }
    assert.deepEqual(await store.listTried({ webhookNo: webhook.webhookNo, ...range }), [one, two])

    await record(replayed, [resultOf(two, 'DELIVERED', { attempt: attemptAt(startedAt + 9) })], {
      cursor: three,
      failingSince: null,
    })
    const after = await read(webhook)
    assert.deepEqual([after.cursor, after.failingSince, after.lastDeliveredAt], [three, null, startedAt + 1])
    assert.equal(after.lastFailure?.status, 500)
    assert.deepEqual(await pendingOf(store, webhook), [])
    const [delivery] = await deliveriesOf(store, webhook, 'DELIVERED')
    assert.deepEqual(delivery, {
      eventId: two,
      type: 'device.created',
      state: 'DELIVERED',
      attempts: [attemptAt(startedAt, 500), attemptAt(startedAt + 9)],
      nextAt: null,
    })
  })

  await t.test(
    'an event that is tried twice in one list has both attempts, of which the last ones are kept',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const webhook = await createWebhook(store, ownerNo)
      const attempts = Array.from({ length: 25 }, (_, index) => attemptAt(startedAt + index, 500))
      const results = attempts.map((attempt) => resultOf(7, 'PENDING', { attempt }))
      await store.recordAttempts([progressOf(webhook, { results: results.slice(0, 2) })])
      await store.recordAttempts([progressOf(webhook, { results: results.slice(2) })])
      const slice = { after: undefined, limit: 9 }
      const found = await store.listDeliveries({ ...webhook, state: 'PENDING', slice })
      assert.deepEqual(
        found?.items.map(({ eventId, attempts }) => ({ eventId, attempts })),
        [{ eventId: 7, attempts: attempts.slice(-20) }],
      )
    },
  )

  await t.test('a result never moves the cursor back, and a deleted webhook is skipped', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 1)
    const [event = 0] = eventIds
    const webhook = await createWebhook(store, ownerNo)
    await record(webhook, [], { cursor: event - 1 })
    assert.equal((await read(webhook)).cursor, event)
    const gone = { ...webhook, webhookNo: webhook.webhookNo + 1000 }
    await store.recordAttempts([
      progressOf(gone, { results: [resultOf(event, 'DELIVERED')], cursor: event + 5 }),
      progressOf(webhook, { cursor: event + 3 }),
    ])
    assert.equal((await read(webhook)).cursor, event + 3)
  })

  await t.test('a pause by a result holds unless it is paused already; resuming forgets why', async () => {
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const webhook = await createWebhook(store, ownerNo)
    const pause = { because: 'gone', at: startedAt + 4 } as const
    await record(webhook, [resultOf(1, 'PENDING', { nextAt: startedAt + day })], { pause, failingSince: 1 })
    const paused = await read(webhook)
    assert.deepEqual([paused.pausedBecause, paused.pausedAt], ['gone', startedAt + 4])
    await record(webhook, [], { pause: { because: 'failing', at: startedAt + 5 } })
    assert.equal((await read(webhook)).pausedBecause, 'gone')
    const resumed = await store.resumeWebhook({ ...by, ...webhook, at: startedAt + 6 })
    assert.deepEqual([resumed?.pausedBecause, resumed?.pausedAt, resumed?.failingSince], [null, null, null])
    assert.deepEqual(
      (await pendingOf(store, webhook)).map(({ nextAt }) => nextAt),
      [startedAt + 6],
    )
  })

  await t.test(
    'the log is listed newest event first, whole or by state, and keeps 20 attempts of each',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
      const webhook = await createWebhook(store, ownerNo)
      const states: DeliveryState[] = ['PENDING', 'DELIVERED', 'FAILED']
      const results = Array.from({ length: 9 }, (_, index) =>
        resultOf(index + 1, states[index % 3] ?? 'FAILED'),
      )
      await record(webhook, results)
      for (const limit of [1, 2, 200]) {
        assert.deepEqual(
          idsOf(await deliveriesOf(store, webhook, undefined, limit)),
          [9, 8, 7, 6, 5, 4, 3, 2, 1],
        )
        assert.deepEqual(idsOf(await deliveriesOf(store, webhook, 'PENDING', limit)), [7, 4, 1])
        assert.deepEqual(idsOf(await deliveriesOf(store, webhook, 'DELIVERED', limit)), [8, 5, 2])
        assert.deepEqual(idsOf(await deliveriesOf(store, webhook, 'FAILED', limit)), [9, 6, 3])
      }
      for (let at = 1; at <= 25; at++) {
        await record(webhook, [resultOf(1, 'PENDING', { attempt: attemptAt(startedAt + at, 500) })])
      }
      const attempts = (await deliveriesOf(store, webhook)).at(-1)?.attempts ?? []
      assert.deepEqual(
        [attempts.length, attempts[0]?.at, attempts[19]?.at],
        [20, startedAt + 6, startedAt + 25],
      )
      const slice = { after: undefined, limit: 1 }
      assert.equal(
        await store.listDeliveries({ ownerNo, webhookName: 'none', state: undefined, slice }),
        undefined,
      )
    },
  )

  await t.test('a replay of many begins a round further back, never further on', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 4)
    const [one = 0, two = 0, three = 0, four = 0] = eventIds
    const webhook = await createWebhook(store, ownerNo)
    await record(webhook, [
      resultOf(one, 'PENDING'),
      resultOf(two, 'DELIVERED'),
      resultOf(three, 'PENDING'),
      resultOf(four, 'DELIVERED'),
    ])
    const replayed = await store.replayWebhook({ ...by, ...webhook, after: two, at: startedAt + 1 })
    assert.deepEqual(replayed, { ...webhook, lastFailure, cursor: two, round: 2, updatedAt: startedAt + 1 })
    // What is pending behind the place is read again; before it, it continues to be tried.
    assert.deepEqual(idsOf(await pendingOf(store, webhook)), [one])
    const range = { round: 2, from: one, to: four }
    assert.deepEqual(await store.listTried({ webhookNo: webhook.webhookNo, ...range }), [])
    const further = await store.replayWebhook({ ...by, ...webhook, after: four + 10, at: startedAt + 1 })
    assert.deepEqual([further?.cursor, further?.round], [two, 3])
    const none = { ownerNo, webhookName: 'none' }
    assert.equal(await store.replayWebhook({ ...by, ...none, after: 0, at: startedAt }), undefined)
  })

  await t.test('results of an earlier round move no cursor and leave nothing pending', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 3)
    const [one = 0, two = 0, three = 0] = eventIds
    const webhook = await createWebhook(store, ownerNo)
    const replayed = await store.replayWebhook({ ...by, ...webhook, after: one, at: startedAt })
    assert.ok(replayed)
    await record(webhook, [resultOf(two, 'PENDING'), resultOf(three, 'DELIVERED')], { cursor: three })
    assert.equal((await read(webhook)).cursor, one)
    assert.deepEqual(idsOf(await deliveriesOf(store, webhook)), [three])
    const range = { round: replayed.round, from: one, to: three }
    assert.deepEqual(await store.listTried({ webhookNo: webhook.webhookNo, ...range }), [])
  })

  await t.test(
    'a replay of one: what was tried, or matches, is pending and counts from the start',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
      const webhook = await createWebhook(store, ownerNo)
      await record(webhook, [resultOf(1, 'FAILED', { tries: 8 })])
      const ask = (eventId: number, matches: boolean) => {
        const replay = {
          eventId,
          type: 'device.created',
          subject: `device ${eventId}`,
          matches,
          at: startedAt + 1,
        }
        return store.replayDelivery({ webhookNo: webhook.webhookNo, ...replay })
      }
      const again = await ask(1, false)
      assert.deepEqual(
        [again?.state, again?.nextAt, again?.attempts],
        ['PENDING', startedAt + 1, [attemptAt(startedAt, 500)]],
      )
      assert.equal(await ask(2, false), undefined)
      assert.deepEqual((await ask(3, true))?.attempts, [])
      assert.deepEqual(
        (await pendingOf(store, webhook)).map(({ eventId, tries }) => [eventId, tries]),
        [
          [1, 0],
          [3, 0],
        ],
      )
      const range = { round: webhook.round, from: 1, to: 3 }
      assert.deepEqual(await store.listTried({ webhookNo: webhook.webhookNo, ...range }), [1, 3])
    },
  )

  await t.test(
    'a run is reported once an execution has a delivery of this round that stands for it',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
      const webhook = await createWebhook(store, ownerNo, 'chat')
      const { webhookNo, round } = webhook
      const subject = 'run 7'
      await record(webhook, [
        resultOf(1, 'DELIVERED', { type: 'run.paused', subject }),
        resultOf(2, 'DELIVERED', { type: 'execution.failed', subject: 'execution 7' }),
      ])
      assert.equal(await store.isRunReported({ webhookNo, round, runId: 7 }), false)
      await record(webhook, [resultOf(3, 'PENDING', { type: 'execution.failed', subject })])
      assert.equal(await store.isRunReported({ webhookNo, round, runId: 7 }), true)
      assert.equal(await store.isRunReported({ webhookNo, round, runId: 70 }), false)
      assert.equal(await store.isRunReported({ webhookNo, round: round + 1, runId: 7 }), false)
    },
  )

  await t.test(
    'a deleted webhook is removed with its log, and another one with its name has neither',
    async () => {
      const { ownerNo } = await seedOwner(store, { devices: [] })
      const webhook = await createWebhook(store, ownerNo)
      await record(webhook, [resultOf(1, 'PENDING')])
      assert.deepEqual(await store.deleteWebhook({ ...webhook, ...by, at: startedAt }), {
        ...webhook,
        lastFailure,
      })
      assert.equal(await store.deleteWebhook({ ...webhook, ...by, at: startedAt }), undefined)
      assert.equal(await store.getActiveWebhook({ webhookNo: webhook.webhookNo }), undefined)
      const next = await createWebhook(store, ownerNo)
      assert.ok(next.webhookNo > webhook.webhookNo)
      // An answer that comes in late belongs to nobody.
      await record(webhook, [resultOf(2, 'DELIVERED')], { cursor: 99 })
      assert.deepEqual(await read(next), next)
      assert.deepEqual(await deliveriesOf(store, next), [])
    },
  )

  await t.test('deliveries are purged with their events, and those of a deleted webhook all', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 4)
    const webhook = await createWebhook(store, ownerNo)
    const deleted = await createWebhook(store, ownerNo, 'deleted')
    const results = eventIds.map((eventId) => resultOf(eventId, 'DELIVERED'))
    for (const each of [webhook, deleted]) await record(each, results)
    await store.deleteWebhook({ ...deleted, ...by, at: startedAt })
    const purgeAll = async () => {
      for (let batches = 0; await store.purgeDeliveries(); batches++) assert.ok(batches < 1000)
    }
    await purgeAll()
    assert.equal((await deliveriesOf(store, webhook)).length, 4)
    assert.deepEqual(
      (
        await store.listPendingDeliveries({
          webhookNo: deleted.webhookNo,
          slice: { after: undefined, limit: 9 },
        })
      ).items,
      [],
    )
    assert.deepEqual(await store.listTried({ webhookNo: deleted.webhookNo, round: 1, from: 0, to: 1e9 }), [])
    await store.purgeEvents({ olderThan: startedAt + day, now: startedAt + day })
    const { purgedUpTo } = await store.getEventBounds({ ownerNo })
    assert.ok(purgedUpTo >= (eventIds[2] ?? 0))
    await purgeAll()
    assert.deepEqual(
      idsOf(await deliveriesOf(store, webhook)),
      eventIds.filter((eventId) => eventId > purgedUpTo),
    )
  })

  await t.test('its cursor is kept when the store is opened again', async () => {
    const { ownerNo, eventIds } = await seedEvents(store, 2)
    const [one = 0, two = 0] = eventIds
    const webhook = await createWebhook(store, ownerNo)
    await record(webhook, [resultOf(one, 'PENDING'), resultOf(two, 'DELIVERED')], { failingSince: 5 })
    const before = await read(webhook)
    const again = await underTest.reopen()
    assert.deepEqual(await again.getActiveWebhook({ webhookNo: webhook.webhookNo }), {
      webhook: before,
      lastTried: two,
    })
    assert.deepEqual(idsOf(await pendingOf(again, webhook)), [one])
    assert.deepEqual(await again.listTried({ webhookNo: webhook.webhookNo, round: 1, from: one, to: two }), [
      one,
      two,
    ])
  })
}
