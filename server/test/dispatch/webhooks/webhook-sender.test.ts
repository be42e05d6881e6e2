// Simulates several days of a webhook, with a real store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageUnavailable } from '../../../src/domain/common/ports/storage-errors.ts'
import { by } from '../../store/store-under-test.ts'
import { webhookPut } from '../../store/webhook-steps.ts'
import {
  accepts,
  assertAllAccepted,
  assertInOrder,
  isGone,
  refuses,
  SenderUnderTest,
} from './sender-under-test.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

test('events are sent as they come, each once', async (t) => {
  const s = await SenderUnderTest.open(t)
  await s.change('a', 'b')
  await s.time.forward(second)
  await s.change('c')
  await s.time.forward(day)
  assert.deepEqual(s.sent, [1, 2, 3])
  assert.deepEqual(await s.deliveries(), ['1 DELIVERED 1', '2 DELIVERED 1', '3 DELIVERED 1'])
  const { cursor, failingSince, lastDeliveredAt } = await s.webhook()
  assert.deepEqual([cursor, failingSince], [3, null])
  assert.ok(lastDeliveredAt)
})

test('a webhook with a restriction that a newer version has stored sends nothing, and skips no event', async (t) => {
  const s = await SenderUnderTest.open(t, { restriction: { sites: ['lima'] } as object })
  await s.change('a')
  await s.time.forward(day)
  assert.deepEqual([s.sent, (await s.webhook()).cursor], [[], 0])
})

test('while nothing happens it has no timer and writes nothing', async (t) => {
  const content = {
    url: 'https://a.example',
    eventTypes: [],
    jobName: null,
    deviceId: 'b',
    format: 'jobcast' as const,
  }
  const s = await SenderUnderTest.open(t, { content })
  await s.change('a', 'b', 'c')
  await s.time.forward(minute)
  const { writes } = s
  assert.deepEqual([s.sent, (await s.webhook()).cursor, s.time.pendingTimers], [[2], 3, 0])
  await s.time.forward(day)
  assert.equal(s.writes, writes)
  // One that does not pass the filter moves the cursor, and that is written once.
  await s.change('d')
  await s.time.forward(hour)
  assert.deepEqual([s.sent, (await s.webhook()).cursor], [[2], 4])
  assert.deepEqual([s.writes, s.time.pendingTimers], [writes + 1, 0])
})

test('what the receiver refuses while it accepts others is tried for about a day, then given up', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = ({ deviceId }) => (deviceId === 'bad' ? refuses : accepts)
  await s.change('bad')
  const firstAt = () => s.requests.find(({ deviceId }) => deviceId === 'bad')?.at ?? 0
  // Something else is accepted soon after each refusal: the receiver as a whole is well.
  for (let elapsed = 0; elapsed < 26 * hour; elapsed += minute / 2) {
    const requests = s.requests.length
    await s.time.forward(minute / 2)
    if (s.requests.slice(requests).some(({ accepted }) => !accepted)) await s.change('good')
  }
  const delays = s.requests.filter(({ deviceId }) => deviceId === 'bad').map(({ at }) => at - firstAt())
  assert.deepEqual(
    delays.map((ms) => Math.round(ms / minute)),
    [0, 0, 5, 35, 155, 455, 935, 1415],
  )
  assert.equal((await s.deliveries())[0], '1 FAILED 8')
  assert.equal((await s.webhook()).pausedBecause, null)
})

test('events of one subject go in order, also past one that is given up; others do not wait for them', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = ({ eventId }) => (eventId === 1 ? refuses : accepts)
  await s.change('a', 'a', 'b')
  await s.time.forward(10 * second)
  assert.deepEqual(new Set(s.sent), new Set([1, 3]))
  s.answer = ({ eventId }) => (eventId === 2 ? refuses : accepts)
  await s.time.forward(hour)
  const ofA = s.requests.filter(({ deviceId }) => deviceId === 'a')
  assert.equal(
    ofA.findIndex(({ accepted }) => accepted),
    ofA.findIndex(({ eventId }) => eventId === 2) - 1,
  )
})

test('more than memory holds behind one that is refused does not hold up the others', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = ({ eventId }) => (eventId === 1 ? refuses : accepts)
  await s.change('bad')
  const later = Array.from({ length: 1500 }, (_, index) => (index % 100 === 0 ? 'good' : 'bad'))
  await s.change(...later)
  await s.time.forward(minute)
  assert.equal(s.requests.filter(({ deviceId, accepted }) => deviceId === 'good' && accepted).length, 15)
  s.answer = () => accepts
  await s.time.forward(10 * minute)
  assertAllAccepted(s.requests, 1501)
  assertInOrder(s.requests)
})

test('a receiver that is down for an hour costs few requests, and has everything soon after its return', async (t) => {
  const s = await SenderUnderTest.open(t)
  let isDown = true
  s.answer = () => (isDown ? refuses : accepts)
  const ids = Array.from({ length: 2000 }, (_, index) => `d${index % 700}`)
  for (let start = 0; start < ids.length; start += 500) {
    await s.change(...ids.slice(start, start + 500))
    await s.time.forward(15 * minute)
  }
  assert.ok(s.requests.length < 50, `${s.requests.length} requests while it was down`)
  assert.ok((await s.webhook()).failingSince)
  isDown = false
  await s.time.forward(6 * minute)
  assertAllAccepted(s.requests, 2000)
  assertInOrder(s.requests)
  const { failingSince, cursor } = await s.webhook()
  assert.deepEqual([failingSince, cursor], [null, 2000])
})

test('the log says once that a receiver is failing, and once that it works again', async (t) => {
  const s = await SenderUnderTest.open(t)
  const said = () => s.told.filter(({ kind }) => kind === 'webhook-failing' || kind === 'webhook-recovered')
  const name = { webhookName: 'w', ownerNo: s.ownerNo }
  const failing = { kind: 'webhook-failing', ...name, status: null, error: 'connect ECONNREFUSED' }
  const recovered = { kind: 'webhook-recovered', ...name }
  // A receiver that fails now and then is no news.
  let calls = 0
  s.answer = () => (++calls % 2 === 0 ? accepts : refuses)
  await s.change('a', 'b', 'c')
  await s.time.forward(minute)
  assert.deepEqual(said(), [])
  s.answer = () => ({ status: null, error: 'could not connect', retryAfterMs: 0, detail: failing.error })
  await s.change('a', 'b', 'c', 'd', 'e', 'f', 'g')
  await s.time.forward(hour)
  assert.deepEqual(said(), [failing])
  await s.killAndStart()
  await s.time.forward(hour)
  assert.deepEqual(said(), [failing])
  s.answer = () => accepts
  await s.time.forward(hour)
  await s.change('a', 'b')
  await s.time.forward(minute)
  assert.deepEqual(said(), [failing, recovered])
})

test('the only event there is reaches a receiver that was down soon after its return, too', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = () => refuses
  await s.change('a')
  await s.time.forward(3 * hour)
  s.answer = () => accepts
  await s.time.forward(6 * minute)
  assert.match((await s.deliveries())[0] ?? '', /^1 DELIVERED/)
})

test('when nothing was accepted for a day it is paused as failing; resumed it sends everything', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = () => refuses
  await s.change('a', 'b', 'a')
  await s.time.forward(day - hour)
  assert.equal((await s.webhook()).pausedBecause, null)
  await s.time.forward(2 * hour)
  assert.equal((await s.webhook()).pausedBecause, 'failing')
  assert.ok(s.told.some((event) => event.kind === 'webhook-paused' && event.because === 'failing'))
  const tried = s.requests.length
  await s.change('c')
  await s.time.forward(day)
  assert.equal(s.requests.length, tried)
  s.answer = () => accepts
  await s.store.resumeWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.time.forward(second)
  assertAllAccepted(s.requests, 4)
  assertInOrder(s.requests)
})

test('410 pauses it at once; the event is pending, and sent when it is resumed', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = () => isGone
  await s.change('a', 'a')
  await s.time.forward(day)
  assert.deepEqual(s.sent, [1])
  assert.equal((await s.webhook()).pausedBecause, 'gone')
  assert.deepEqual(await s.deliveries(), ['1 PENDING 1'])
  s.answer = () => accepts
  await s.store.resumeWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [1, 1, 2])
  assert.deepEqual(await s.deliveries(), ['1 DELIVERED 2', '2 DELIVERED 1'])
})

test('a receiver that asks for time gets it', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = () => ({ status: 429, error: 'the receiver answered 429', retryAfterMs: 20 * minute })
  await s.change('a')
  await s.time.forward(second)
  s.answer = () => accepts
  await s.change('b')
  await s.time.forward(19 * minute)
  assert.deepEqual(s.sent, [1])
  await s.time.forward(minute)
  assert.deepEqual(new Set(s.sent), new Set([1, 2]))
})

test('paused by its owner it sends nothing, and then all that happened meanwhile', async (t) => {
  const s = await SenderUnderTest.open(t)
  await s.change('a')
  await s.time.forward(second)
  await s.store.pauseWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.change('b', 'c')
  await s.time.forward(day)
  assert.deepEqual(s.sent, [1])
  await s.store.resumeWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [1, 2, 3])
})

test('only what passes the filter is sent, and the cursor of the others is kept', async (t) => {
  const content = {
    url: 'https://a.example',
    eventTypes: ['device.created'],
    jobName: null,
    deviceId: 'b',
    format: 'jobcast' as const,
  }
  const s = await SenderUnderTest.open(t, { content })
  await s.change('a', 'b', 'c')
  await s.time.forward(minute)
  assert.deepEqual(s.sent, [2])
  assert.equal((await s.webhook()).cursor, 3)
})

test('killed, it continues where it was: nothing is lost, what is sent twice was not written down', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = ({ deviceId }) => (deviceId === 'bad' ? refuses : accepts)
  await s.change('bad', 'a', 'bad', 'b')
  await s.time.forward(second)
  await s.killAndStart()
  await s.change('a')
  s.answer = () => accepts
  await s.time.forward(minute)
  assertAllAccepted(s.requests, 5)
  assert.equal(s.requests.filter(({ accepted }) => accepted).length, 5)
  assertInOrder(s.requests)
})

test('killed between an answer and its note, the event is sent again', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = () => {
    s.kill()
    return accepts
  }
  await s.change('a', 'a')
  await s.time.forward(second)
  assert.deepEqual(await s.deliveries(), [])
  s.answer = () => accepts
  await s.killAndStart()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [1, 1, 2])
})

test('while nothing can be written nothing more is sent; then it continues', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.disturb({ recordAttempts: () => Promise.reject(new StorageUnavailable('the disk is full')) })
  await s.change(...Array.from({ length: 300 }, (_, index) => `d${index}`))
  await s.time.forward(minute)
  const sent = s.sent.length
  await s.time.forward(minute)
  assert.ok(sent > 0 && sent < 300, `${sent} requests`)
  assert.equal(s.sent.length, sent)
  assert.ok(s.told.some(({ kind }) => kind === 'webhooks-failed'))
  s.calm()
  await s.time.forward(minute)
  assertAllAccepted(s.requests, 300)
})

test('while nothing can be read it waits; then it continues', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.disturb({ listEvents: () => Promise.reject(new StorageUnavailable('the disk is gone')) })
  await s.change('a')
  await s.time.forward(minute)
  assert.deepEqual(s.sent, [])
  s.calm()
  await s.time.forward(minute)
  assert.deepEqual(s.sent, [1])
})

test('one event is sent again when it is replayed; many since an event', async (t) => {
  const s = await SenderUnderTest.open(t)
  await s.change('a', 'b', 'c')
  await s.time.forward(second)
  const replay = {
    eventId: s.idOf(2),
    type: 'device.created',
    subject: 'device b',
    matches: true,
    at: s.time.now(),
  }
  await s.store.replayDelivery({ webhookNo: (await s.webhook()).webhookNo, ...replay })
  await s.changed()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [1, 2, 3, 2])
  await s.store.replayWebhook({ ...by, ...(await s.webhook()), after: s.idOf(1), at: s.time.now() })
  await s.changed()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [1, 2, 3, 2, 2, 3])
  assert.deepEqual(await s.deliveries(), ['1 DELIVERED 1', '2 DELIVERED 3', '3 DELIVERED 2'])
  await s.killAndStart()
  await s.time.forward(hour)
  assert.equal(s.sent.length, 6)
})

test('events that were purged while it was paused are logged, and it continues after them', async (t) => {
  const s = await SenderUnderTest.open(t)
  await s.store.pauseWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.change('a', 'b', 'c')
  await s.time.forward(10 * day)
  await s.store.purgeEvents({ olderThan: s.time.now(), now: s.time.now() })
  await s.store.resumeWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
  await s.time.forward(second)
  assert.deepEqual(s.sent, [3])
  const forgotten = s.told.filter((event) => event.kind === 'webhook-events-purged')
  assert.deepEqual(
    forgotten.map(({ upTo }) => s.ordinalOf(upTo)),
    [2],
  )
})

test('what was tried and is forgotten before its next attempt has failed', async (t) => {
  const s = await SenderUnderTest.open(t)
  s.answer = ({ deviceId }) => (deviceId === 'bad' ? refuses : accepts)
  await s.change('bad', 'a')
  await s.time.forward(second)
  await s.store.purgeEvents({ olderThan: s.time.now() + day, now: s.time.now() + day })
  await s.time.forward(minute)
  assert.deepEqual(await s.deliveries(), ['1 FAILED 2', '2 DELIVERED 1'])
})

test('no more than eight requests are unfinished at once', async (t) => {
  const s = await SenderUnderTest.open(t)
  const answers: (() => void)[] = []
  s.answer = () => new Promise((resolve) => answers.push(() => resolve(accepts)))
  await s.change(...Array.from({ length: 20 }, (_, index) => `d${index}`))
  await s.time.forward(second)
  assert.equal(s.requests.length, 8)
  for (const [index, count] of [8, 8, 4].entries()) {
    assert.equal(answers.length, count, `group ${index}`)
    for (const answer of answers.splice(0)) answer()
    await s.time.quiet()
  }
})

test('a change without a signal takes effect with the next sweep of all webhooks', async (t) => {
  const s = await SenderUnderTest.open(t)
  await s.change('a')
  await s.time.forward(second)
  const { webhookName, updatedAt } = await s.webhook()
  const content = {
    url: 'https://a.example',
    eventTypes: [],
    jobName: null,
    deviceId: 'b',
    format: 'jobcast' as const,
  }
  await s.store.putWebhook(webhookPut(s.ownerNo, webhookName, { content, at: updatedAt + 1 }))
  await s.sender.rebalance()
  await s.time.quiet()
  await s.change('a', 'b')
  await s.time.forward(minute)
  assert.deepEqual(
    s.requests.map(({ deviceId }) => deviceId),
    ['a', 'b'],
  )
})
