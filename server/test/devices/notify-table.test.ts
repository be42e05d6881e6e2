// The notices of each change: every row of the table of notifications, with exactly the messages that arrive.
// Executions are called a, b, c in the order they were triggered.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import type { Json } from './support/device-client.ts'
import { assertNow, jobsOf } from './support/exercise-device.ts'
import { connectMqttJs } from './support/mqtt-js-link.ts'
import { cancel, newDeviceId, putJob, seedDevice, trigger, waitForEnd } from './support/seed.ts'
import { openTopicDevice, type TopicDevice } from './support/topic-device.ts'

const api = await openSharedServer()
const document = { run: 'update' }
await putJob(api, 'job', { document })
await putJob(api, 'quick-to-time-out', { timeoutSeconds: 1 })
await putJob(api, 'quick-to-expire', { expireAfterSeconds: 2 })

type Scene = {
  device: TopicDevice
  /** jobIds of a, b, c. */
  a: string
  b: string
  c: string
  triggerNext(jobName?: string): Promise<string>
}
type List = { IN_PROGRESS?: string; QUEUED?: string }
type Row = {
  change: string
  /** How a, b and c stand before the change. */
  before: ('QUEUED' | 'IN_PROGRESS')[]
  act: (scene: Scene) => Promise<unknown>
  notify: List[]
  /** Empty: nothing is pending any more. */
  notifyNext: string[]
  cancels?: string
}

const start = (device: TopicDevice, jobId: string) => device.update(jobId, { status: 'IN_PROGRESS' })
const succeed = (device: TopicDevice, jobId: string) => device.update(jobId, { status: 'SUCCEEDED' })

const rows: Row[] = [
  {
    change: 'a new execution, the list was empty',
    before: [],
    act: ({ triggerNext }) => triggerNext(),
    notify: [{ QUEUED: 'a' }],
    notifyNext: ['a'],
  },
  {
    change: 'a new execution, another waits',
    before: ['QUEUED'],
    act: ({ triggerNext }) => triggerNext(),
    notify: [{ QUEUED: 'ab' }],
    notifyNext: [],
  },
  {
    change: 'a new execution, another is in progress',
    before: ['IN_PROGRESS'],
    act: ({ triggerNext }) => triggerNext(),
    notify: [{ IN_PROGRESS: 'a', QUEUED: 'b' }],
    notifyNext: [],
  },
  {
    change: 'the first goes IN_PROGRESS by start-next',
    before: ['QUEUED', 'QUEUED'],
    act: ({ device }) => device.startNext(),
    notify: [],
    notifyNext: [],
  },
  {
    change: 'the first goes IN_PROGRESS by an update',
    before: ['QUEUED', 'QUEUED'],
    act: ({ device, a }) => start(device, a),
    notify: [],
    notifyNext: [],
  },
  {
    change: 'a later one goes IN_PROGRESS and jumps the queue',
    before: ['QUEUED', 'QUEUED'],
    act: ({ device, b }) => start(device, b),
    notify: [],
    notifyNext: ['b'],
  },
  {
    change: 'a later one goes IN_PROGRESS behind one that already is',
    before: ['IN_PROGRESS', 'QUEUED'],
    act: ({ device, b }) => start(device, b),
    notify: [],
    notifyNext: [],
  },
  ...(['SUCCEEDED', 'FAILED', 'REJECTED'] as const).map(
    (status): Row => ({
      change: `the first becomes ${status}, another waits`,
      before: ['IN_PROGRESS', 'QUEUED'],
      act: ({ device, a }) => device.update(a, { status }),
      notify: [{ QUEUED: 'b' }],
      notifyNext: ['b'],
    }),
  ),
  {
    change: 'the first becomes terminal without having started',
    before: ['QUEUED', 'QUEUED'],
    act: ({ device, a }) => succeed(device, a),
    notify: [{ QUEUED: 'b' }],
    notifyNext: ['b'],
  },
  {
    change: 'the only one becomes terminal',
    before: ['IN_PROGRESS'],
    act: ({ device, a }) => succeed(device, a),
    notify: [{}],
    notifyNext: [''],
  },
  {
    change: 'the one that jumped the queue becomes terminal',
    before: ['QUEUED', 'IN_PROGRESS'],
    act: ({ device, b }) => succeed(device, b),
    notify: [{ QUEUED: 'a' }],
    notifyNext: ['a'],
  },
  {
    change: 'a later one becomes terminal',
    before: ['IN_PROGRESS', 'QUEUED', 'QUEUED'],
    act: ({ device, b }) => succeed(device, b),
    notify: [{ IN_PROGRESS: 'a', QUEUED: 'c' }],
    notifyNext: [],
  },
  {
    change: 'the first times out',
    before: [],
    async act({ device, triggerNext }) {
      const timesOut = await triggerNext('quick-to-time-out')
      await Promise.all([device.notify.take(), device.notifyNext.take()])
      await device.startNext()
      await waitForEnd(api, timesOut)
    },
    notify: [{}],
    notifyNext: [''],
    // It is told to stop, too.
    cancels: 'a',
  },
  {
    change: 'a later one expires',
    before: ['QUEUED'],
    async act({ device, triggerNext }) {
      const expires = await triggerNext('quick-to-expire')
      await device.notify.take()
      await waitForEnd(api, expires)
    },
    notify: [{ QUEUED: 'a' }],
    notifyNext: [],
  },
  {
    change: 'the first is canceled while it waits, another waits',
    before: ['QUEUED', 'QUEUED'],
    act: ({ a }) => cancel(api, a),
    notify: [{ QUEUED: 'b' }],
    notifyNext: ['b'],
  },
  {
    change: 'the only one is canceled while it waits',
    before: ['QUEUED'],
    act: ({ a }) => cancel(api, a),
    notify: [{}],
    notifyNext: [''],
  },
  {
    change: 'a later one is canceled while it waits',
    before: ['QUEUED', 'QUEUED'],
    act: ({ b }) => cancel(api, b),
    notify: [{ QUEUED: 'a' }],
    notifyNext: [],
  },
  {
    change: 'the first is asked to end: it is still in progress for the device',
    before: ['IN_PROGRESS', 'QUEUED'],
    act: ({ a }) => cancel(api, a),
    notify: [],
    notifyNext: [],
    cancels: 'a',
  },
  {
    change: 'the device confirms the cancel of the first',
    before: ['IN_PROGRESS', 'QUEUED'],
    async act({ device, a }) {
      await cancel(api, a)
      // One that has confirmed it before it was told is not told any more.
      assert.equal((await device.cancel.take()).jobId, a)
      await device.update(a, { status: 'CANCELED' })
    },
    notify: [{ QUEUED: 'b' }],
    notifyNext: ['b'],
  },
  {
    change: 'the first is canceled by force',
    before: ['IN_PROGRESS', 'QUEUED'],
    act: ({ a }) => cancel(api, a, { force: true }),
    notify: [{ QUEUED: 'b' }],
    notifyNext: ['b'],
    cancels: 'a',
  },
  {
    change: 'only statusDetails change',
    before: ['IN_PROGRESS', 'QUEUED'],
    act: ({ device, a }) => device.update(a, { status: 'IN_PROGRESS', statusDetails: { step: 'two' } }),
    notify: [],
    notifyNext: [],
  },
  {
    change: 'an update is refused',
    before: ['IN_PROGRESS', 'QUEUED'],
    act: ({ device, a }) => device.ask(`${a}/update`, { status: 'SUCCEEDED', expectedVersion: 9 }),
    notify: [],
    notifyNext: [],
  },
]

for (const { change, before, act, notify, notifyNext, cancels = '' } of rows) {
  const told = `${notify.length} notify, ${notifyNext.length} notify-next`
  test(`${change}: ${told}`, async (t) => {
    const { device, ids, triggerNext } = await openBefore(t, before)
    await subscribeToNotices(device, before.length > 0)

    const [a = '', b = '', c = ''] = ids
    await act({ device, a, b, c, triggerNext })
    const letters = (text: string) => [...text].map((letter) => ids['abc'.indexOf(letter)])
    for (const list of notify) {
      const expected = Object.entries(list).map(([state, text]) => [state, letters(text)])
      assertList(await device.notify.take(), Object.fromEntries(expected))
    }
    for (const letter of notifyNext) assertNext(await device.notifyNext.take(), device, letters(letter)[0])
    for (const jobId of letters(cancels)) assert.equal((await device.cancel.take()).jobId, jobId)

    await assertNothingElse(device, triggerNext)
  })
}

test('a subscription while something is pending causes one notice at once', async (t) => {
  const { device, ids, triggerNext } = await openBefore(t, ['QUEUED', 'IN_PROGRESS'])
  const [a = '', b = ''] = ids
  await device.subscribe('notify', 'notify-next')
  assertList(await device.notify.take(), { IN_PROGRESS: [b], QUEUED: [a] })
  const next = await device.notifyNext.take()
  assertNext(next, device, b)
  assert.deepEqual(
    [next.execution.status, next.execution.versionNumber, next.execution.statusDetails],
    ['IN_PROGRESS', 2, {}],
  )
  await assertNothingElse(device, triggerNext)
})

test('a subscription while nothing is pending causes no notice', async (t) => {
  const { device, triggerNext } = await openBefore(t, [])
  await device.subscribe('notify', 'notify-next')
  await assertNothingElse(device, triggerNext)
})

test('a subscription to one of the two topics does not cause notices of the other', async (t) => {
  const { device, triggerNext } = await openBefore(t, [])
  await device.subscribe('notify-next')
  const first = await triggerNext()
  assertNext(await device.notifyNext.take(), device, first)
  await device.startNext()
  await succeed(device, first)
  assertNext(await device.notifyNext.take(), device, undefined)
  await device.getPending()
  assert.deepEqual(device.notify.takeAll(), [])
})

test('a change during a notice does not cause a duplicate', async (t) => {
  const rounds = Array.from({ length: 20 }, async () => {
    const { device, ids, triggerNext } = await openBefore(t, ['QUEUED', 'QUEUED'])
    const [a = '', b = ''] = ids
    await subscribeToNotices(device, true)
    await Promise.all([device.startNext(), succeed(device, a)])
    assertList(await device.notify.take(), { QUEUED: [b] })
    assertNext(await device.notifyNext.take(), device, b)
    await assertNothingElse(device, triggerNext)
  })
  await Promise.all(rounds)
})

async function openBefore(t: TestContext, before: Row['before']) {
  const deviceId = newDeviceId()
  const password = await seedDevice(api, deviceId)
  const link = await connectMqttJs(t, api.server.mqtt, { username: deviceId, password, protocolVersion: 5 })
  const device = await openTopicDevice(deviceId, link, { notices: false })
  const ids: string[] = []
  const triggerNext = async (jobName = 'job') => {
    const jobId = await trigger(api, jobName, deviceId)
    ids.push(jobId)
    return jobId
  }
  for (const state of before) {
    const jobId = await triggerNext()
    if (state === 'IN_PROGRESS') await start(device, jobId)
  }
  return { device, ids, triggerNext }
}

/** What is pending is told at once; that is not what the rows are about. */
async function subscribeToNotices(device: TopicDevice, isPending: boolean): Promise<void> {
  await device.subscribe('notify', 'notify-next', '+/cancel')
  if (isPending) await Promise.all([device.notify.take(), device.notifyNext.take()])
}

/**
 * Notices follow the change by themselves, so one that should not come could still be on its way. The notices of
 * one more execution come after it: until they are here nothing else may have come.
 */
async function assertNothingElse(device: TopicDevice, triggerNext: Scene['triggerNext']): Promise<void> {
  const { inProgressJobs, queuedJobs } = await device.getPending()
  assertQuiet(device)
  const last = await triggerNext()
  const [inProgress, queued] = [inProgressJobs, queuedJobs].map((list) =>
    list.map(({ jobId }: Json) => jobId),
  )
  assertList(await device.notify.take(), {
    ...(inProgress.length > 0 && { IN_PROGRESS: inProgress }),
    QUEUED: [...queued, last],
  })
  if (inProgress.length + queued.length === 0) assertNext(await device.notifyNext.take(), device, last)
  await device.getPending()
  assertQuiet(device)
}

function assertQuiet({ notify, notifyNext, cancel: cancels }: TopicDevice): void {
  assert.deepEqual([notify.takeAll(), notifyNext.takeAll(), cancels.takeAll()], [[], [], []])
}

function assertList(message: Json, jobs: Record<string, unknown>): void {
  assert.deepEqual(Object.keys(message).sort(), ['jobs', 'timestamp'])
  assertNow(message.timestamp)
  assert.deepEqual(jobsOf(message), jobs)
  for (const [state, summaries] of Object.entries<Json[]>(message.jobs)) {
    for (const {
      jobId,
      queuedAt,
      startedAt,
      lastUpdatedAt,
      versionNumber,
      executionNumber,
      ...rest
    } of summaries) {
      assert.deepEqual(rest, {})
      assert.match(jobId, /^[1-9]\d*$/)
      assertNow(queuedAt, lastUpdatedAt)
      if (state === 'QUEUED') assert.equal(startedAt, undefined)
      else assertNow(startedAt)
      assert.ok(state === 'QUEUED' ? versionNumber === 1 : versionNumber > 1)
      assert.equal(executionNumber, 1)
    }
  }
}

function assertNext(message: Json, { prefix }: TopicDevice, jobId: string | undefined): void {
  const { timestamp, execution, ...rest } = message
  assert.deepEqual(rest, {})
  assertNow(timestamp)
  if (jobId === undefined) {
    assert.ok(!('execution' in message))
    return
  }
  assert.equal(execution.jobId, jobId)
  assert.equal(prefix, `$aws/things/${execution.thingName}/jobs/`)
  assert.equal(typeof execution.jobDocument, 'object')
  assert.ok(['QUEUED', 'IN_PROGRESS'].includes(execution.status))
  assertNow(execution.queuedAt, execution.lastUpdatedAt)
}
