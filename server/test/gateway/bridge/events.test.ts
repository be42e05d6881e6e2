// The event log on a topic of the broker: in order, at least once, also over a restart.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { openServer } from '@jobcast/testkit/open-server'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { bridgeTo, whenConnected } from './bridge-under-test.ts'

type Event = { eventId: number; type: string; data: { jobName?: string } }

test('events are published in order, and none is missing after a restart', {
  skip: withoutMosquitto,
}, async (t) => {
  const broker = await openMosquitto(t)
  const dataFolder = newDataFolder()
  removeAfter(t, dataFolder)
  const listener = await connectAsync(broker.url, { clientId: 'listener', clean: false })
  t.after(() => void listener.end(true))
  const events: Event[] = []
  listener.on('message', (topic, payload) => {
    assert.equal(topic, 'jobcast/events')
    events.push(JSON.parse(payload.toString()))
  })
  await listener.subscribeAsync('jobcast/#', { qos: 1 })
  const bridges = [bridgeTo(broker.url, { events: 'jobcast/events' })]
  const putJobs = async (server: Awaited<ReturnType<typeof openServer>>, from: number) => {
    for (let job = from; job < from + 3; job++) {
      const { status } = await server.call('PUT', `/job/api/jobs/job-${job}`, { body: { document: {} } })
      assert.equal(status, 201)
    }
  }
  const jobs = () => events.filter(({ type }) => type === 'job.changed').map(({ data }) => data.jobName)

  const before = await openServer(t, { dataFolder, bridges })
  await whenConnected(before)
  await waitUntil('it has begun', async () => {
    await before.call('PUT', '/job/api/jobs/first', { body: { document: {} } })
    await before.call('DELETE', '/job/api/jobs/first')
    return events.length > 0
  })
  await putJobs(before, 1)
  await waitUntil('all came', () => jobs().includes('job-3'))
  await before.server.stop()
  const without = await openServer(t, { dataFolder })
  await putJobs(without, 4)
  await without.server.stop()
  const after = await openServer(t, { dataFolder, bridges })
  await putJobs(after, 7)
  await waitUntil('all came', () => jobs().includes('job-9'))

  const ids = [...new Set(events.map(({ eventId }) => eventId))]
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  const once = [...new Set(jobs())].filter((name) => name !== 'first')
  assert.deepEqual(
    once,
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((job) => `job-${job}`),
  )
})

test('an event that is too large for the broker holds up no others', {
  skip: withoutMosquitto,
}, async (t) => {
  const broker = await openMosquitto(t, { settings: ['max_packet_size 1500'] })
  const listener = await connectAsync(broker.url)
  t.after(() => void listener.end(true))
  const events: string[] = []
  listener.on('message', (_topic, payload) => events.push(payload.toString()))
  await listener.subscribeAsync('jobcast/events', { qos: 1 })
  const server = await openServer(t, { bridges: [bridgeTo(broker.url, { events: 'jobcast/events' })] })
  await whenConnected(server)
  const put = async (deviceId: string, tags: string[]) => {
    const { status, text } = await server.call('PUT', `/job/api/devices/${deviceId}`, { body: { tags } })
    assert.ok(status < 300, text)
  }
  const came = (deviceId: string) => events.some((each) => each.includes(`"${deviceId}"`))
  await waitUntil('it has begun', async () => {
    await put('first', [`t${events.length}-${performance.now()}`])
    return came('first')
  })
  await put(
    'large',
    Array.from({ length: 40 }, (_, index) => `${index}-${'x'.repeat(50)}`),
  )
  await put('small', [])
  await waitUntil('the next one came', () => came('small'))
  assert.ok(!came('large'))
  const ready = await fetch(`${server.server.metrics}/readyz`)
  const { bridges } = (await ready.json()) as { bridges: [{ lastError: string }] }
  assert.match(bridges[0].lastError, /jobcast\/events was refused: /)
  await put('last', [])
  await waitUntil('the one after it came', () => came('last'))
  assert.equal(events.filter((each) => each.includes('"small"')).length, 1, 'it was published once')
})
