import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FleetEvent, startFleet } from '@jobcast/sim'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import {
  endless,
  jobName,
  newDeviceIds,
  openFleet,
  runToEnd,
  untilFinished,
  withJob,
} from './support/simulate.ts'

const server = await withJob(await openSharedServer())
/** Size of a fleet that is too large for a result by chance. */
const some = testSize('fleet', { test: 20, chaos: 50 })

const patienceMs = 120_000
const instant = { from: 0, to: 0 }

/** Records the events of a fleet, and waits for them. */
class Told {
  readonly events: FleetEvent[] = []
  #look = () => {}

  readonly tell = (event: FleetEvent): void => {
    this.events.push(event)
    this.#look()
  }

  until(what: string, isThere: (events: FleetEvent[]) => boolean): Promise<void> {
    const there = new Promise<void>((resolve) => {
      this.#look = () => isThere(this.events) && resolve()
      this.#look()
    })
    return within(patienceMs, `not told: ${what}`, there)
  }

  count(kind: FleetEvent['kind']): number {
    return this.events.filter((event) => event.kind === kind).length
  }
}

test(`${some} devices take a run to its end`, async (t) => {
  const deviceIds = newDeviceIds(some)
  const fleet = await openFleet(t, server, deviceIds)
  assert.deepEqual((await runToEnd(server, deviceIds)).counts.SUCCEEDED, some)
  assert.deepEqual((await runToEnd(server, deviceIds)).counts.SUCCEEDED, some)
  const { online, refused } = fleet.counts()
  assert.deepEqual({ online, refused }, { online: some, refused: 0 })
})

test('executions that wait in line on one device are carried out one after the other', async (t) => {
  const deviceIds = newDeviceIds(1)
  const told = new Told()
  await openFleet(t, server, deviceIds, { tell: told.tell })
  await Promise.all(Array.from({ length: 5 }, () => runToEnd(server, deviceIds)))
  await told.until('five ends', () => told.count('ended') === 5)
  const kinds = told.events.map(({ kind }) => kind).filter((kind) => kind !== 'online')
  assert.deepEqual(kinds, Array.from({ length: 5 }, () => ['started', 'ended']).flat())
})

test('a failure rate of 1 ends every execution as FAILED, with a reason', async (t) => {
  const deviceIds = newDeviceIds(5)
  await openFleet(t, server, deviceIds, { pattern: { failureRate: 1, workSeconds: instant } })
  const { runId, counts } = await runToEnd(server, deviceIds)
  assert.equal(counts.FAILED, 5)
  const { items } = (await server.call('GET', `/job/api/executions?runId=${runId}`)).json
  for (const { statusDetails } of items) assert.match(statusDetails.reason, /\w/)
})

test('a reject rate of 1 ends every execution as REJECTED', async (t) => {
  const deviceIds = newDeviceIds(1)
  await openFleet(t, server, deviceIds, { pattern: { ...endless, rejectRate: 1 } })
  assert.equal((await runToEnd(server, deviceIds)).counts.REJECTED, 1)
})

test('a cancel is honoured with CANCELED, and the next execution is taken up', async (t) => {
  const deviceIds = newDeviceIds(1)
  const told = new Told()
  const fleet = await openFleet(t, server, deviceIds, { pattern: endless, tell: told.tell })
  for (const force of [false, true]) {
    const [{ jobExecutionId: id }] = (await server.trigger(jobName, deviceIds)).json
    await told.until('a start', (events) =>
      events.some((event) => event.kind === 'started' && event.jobId === `${id}`),
    )
    await server.call('POST', `/job/api/executions/${id}/cancel`, { body: { force } })
    const { execState } = (await server.call('GET', `/job/api/executions/${id}?wait=60`)).json
    assert.equal(execState, 'CANCELED')
  }
  await told.until('the forced one', () => told.count('abandoned') === 1)
  assert.equal(fleet.counts().ended.CANCELED, 1)
  assert.equal(fleet.counts().working, 0)
})

test('output arrives whole, and a result with it', async (t) => {
  const deviceIds = newDeviceIds(1)
  await openFleet(t, server, deviceIds, { pattern: { workSeconds: instant, outputLines: 2 } })
  const { runId } = await runToEnd(server, deviceIds)
  const { items } = (await server.call('GET', `/job/api/executions?runId=${runId}`)).json
  const { text } = await server.call('GET', `/job/api/executions/${items[0].jobExecutionId}/output`)
  assert.equal(text, '[1/2] preparing\n[2/2] fetching what is needed\n')
  assert.deepEqual(items[0].result, { workedMs: 0 })
})

chaosTest('after a restart of the server all come back, and what they worked on ends', async (t) => {
  const dataFolder = newTemporaryFolder()
  // Not an ephemeral port, which a client could get while the server is down.
  const mqttPort = await freePort()
  const first = await openServer(t, { dataFolder, mqttPort })
  const deviceIds = newDeviceIds(some)
  await first.putJobAndDevices(jobName, [])
  const told = new Told()
  const pattern = { workSeconds: { from: 0.5, to: 2 }, outputLines: 5 }
  const fleet = await openFleet(t, first, deviceIds, { pattern, tell: told.tell })
  const { headers } = await first.trigger(jobName, deviceIds)
  await told.until('all have started', () => told.count('started') === some)
  await first.server.stop()
  const second = await openServer(t, { dataFolder, mqttPort })
  removeAfter(t, dataFolder)
  await told.until('all are back', () => told.count('online') >= 2 * some)
  const run = await untilFinished(second, headers.get('location') as string)
  assert.equal(run.counts.SUCCEEDED, some)
  const { items } = (await second.call('GET', `/job/api/executions?runId=${run.runId}&limit=200`)).json
  const whole = items[0].outputBytes
  assert.ok(items.every(({ outputBytes }: { outputBytes: number }) => outputBytes === whole && whole > 0))
  assert.equal(fleet.counts().online, some)
})

test('devices with offline phases go, come back, and miss nothing', async (t) => {
  const deviceIds = newDeviceIds(10)
  const told = new Told()
  // Online for 2 to 4 s: a busy machine takes a second or more to connect ten, and they need time for work.
  const pattern = { workSeconds: instant, offlineRate: 0.2, offlineSeconds: { from: 0.5, to: 1 } }
  await openFleet(t, server, deviceIds, { pattern, tell: told.tell })
  for (let i = 0; i < 3; i++) assert.equal((await runToEnd(server, deviceIds)).counts.SUCCEEDED, 10)
  await told.until('phases', () => told.count('offline') > 10)
})

test('an offline rate of 1 leaves all of them away', async (t) => {
  const fleet = await openFleet(t, server, newDeviceIds(5), { pattern: { offlineRate: 1 } })
  assert.equal(fleet.counts().online, 0)
})

test('a device whose token was replaced stays away', async (t) => {
  const deviceIds = newDeviceIds(1)
  const told = new Told()
  const fleet = await openFleet(t, server, deviceIds, { tell: told.tell })
  await server.call('POST', `/job/api/devices/${deviceIds[0]}/credential`)
  await told.until('the refusal', () => told.count('refused') === 1)
  assert.deepEqual([fleet.counts().online, fleet.counts().refused], [0, 1])
})

chaosTest('the same seed decides alike on each device and each execution', async (t) => {
  const outcomes: unknown[] = []
  const deviceIds = newDeviceIds(20)
  for (let i = 0; i < 2; i++) {
    // Each its own server, so that executions have the same numbers on both.
    const server = await withJob(await openServer(t))
    await openFleet(t, server, deviceIds, { seed: 42, pattern: { workSeconds: instant, failureRate: 0.5 } })
    const { runId } = await runToEnd(server, deviceIds)
    const { items } = (await server.call('GET', `/job/api/executions?runId=${runId}`)).json
    outcomes.push(items.map(({ deviceId, execState }: Record<string, string>) => [deviceId, execState]))
  }
  assert.deepEqual(outcomes[0], outcomes[1])
})

const manyDevices = testSize('devices', { test: 80, chaos: 1000 })

test(`${manyDevices} devices connect and carry out one run`, async (t) => {
  const deviceIds = newDeviceIds(manyDevices)
  const fleet = await openFleet(t, server, deviceIds)
  assert.equal(fleet.counts().online, manyDevices)
  assert.equal((await runToEnd(server, deviceIds)).counts.SUCCEEDED, manyDevices)
})

test('a fleet without a server can be stopped, twice', async () => {
  const devices = [{ deviceId: 'sim-1', deviceToken: 'jd_x' }]
  const fleet = startFleet({ mqtt: 'mqtt://127.0.0.1:1', devices })
  await Promise.all([fleet.stop(), fleet.stop()])
  await fleet.whenUp()
})

test('what is no address of MQTT is refused', () => {
  for (const mqtt of ['', 'localhost:1883', 'http://127.0.0.1:8080', 'mqtt://']) {
    assert.throws(() => startFleet({ mqtt, devices: [] }), /is not an address like/)
  }
})
