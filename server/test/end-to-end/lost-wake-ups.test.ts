// A lost wake-up only costs time. All parts of the server are connected as in server.ts, except that all wake-ups of devices and
// launch notices are dropped.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { type Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { accepted, deviceFilters } from '@jobcast/testkit/simulated-device'
import { within } from '@jobcast/testkit/within'
import { startBackground } from '../../src/background/background-tasks.ts'
import { buildParts } from '../../src/build-parts.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { hashSecret, newSecretText } from '../../src/domain/access/secret-text.ts'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { DeviceLink } from '../../src/domain/device/ports/device-link.ts'
import { cancelExecution } from '../../src/domain/execution/cancel-execution.ts'
import { waitForPending } from '../../src/domain/execution/wait-for-pending.ts'
import { triggerJob } from '../../src/domain/trigger/trigger-job.ts'
import { openMqttListener } from '../../src/gateway/mqtt/open-mqtt-listener.ts'
import { unlimited } from '../../src/limits/rate-limits.ts'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { openSqliteUnderTest } from '../store/sqlite-under-test.ts'
import { seedOwner } from '../store/store-under-test.ts'

// The guarantee is 5 s; this bound also holds on a busy machine.
const boundMs = 45_000

const talksToNobody: DeviceLink = { wake() {}, launched() {}, released() {}, withdraw() {}, disconnect() {} }

async function openWithoutWakeUps(t: TestContext, deviceIds: string[]) {
  const { store } = await openSqliteUnderTest(t)
  const { ownerNo } = await seedOwner(store, { devices: deviceIds })
  const failures: ServiceEvent[] = []
  const tell = (event: ServiceEvent) => {
    if (event.kind.endsWith('failed')) failures.push(event)
  }
  const started = Date.now() - performance.now()
  const stopping = new AbortController()
  const parts = buildParts({
    store,
    tell,
    metrics: buildMetrics(),
    now: Date.now,
    elapsed: () => performance.now(),
    moment: () => ({
      at: Date.now(),
      clock: steadyInstant(Math.round(started + performance.now())),
      chance: 0,
      cancelDeadlineMs: 60_000,
    }),
    stopping: stopping.signal,
    maxOutputBytes: 1024,
    rates: unlimited,
    sessionIdleMs: 60 * 60_000,
    quotas: noQuotas,
    isRemote: false,
    isAllowedAddress: () => true,
  })
  const deps = { ...parts, link: talksToNobody }
  const { dispatcher } = parts
  const background = startBackground(
    { ...deps, keepEventsMs: 1e9, keepAuditMs: 1e9, ownNow: Date.now, keepExecutionsMs: undefined },
    dispatcher,
  )
  const listener = await openMqttListener(deps, {
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    http: createServer(),
    isTrustedProxy: undefined,
  })
  return {
    deps,
    caller: { ownerNo, ownerId: '', keyId: 'k1', scopes: [] },
    failures,
    async connect(deviceId: string): Promise<MqttLine> {
      const { id, text } = newSecretText('jd')
      const token = { tokenId: id, tokenHash: hashSecret(text), at: Date.now(), createdBy: null }
      assert.ok(await store.setDeviceToken({ ownerNo, deviceId, token, at: Date.now() }))
      const line = await MqttLine.open(listener.address, { deviceId, token: text })
      await line.subscribe('notify', ...deviceFilters)
      return line
    },
    /** Before the store is closed. */
    async stop() {
      await listener.stop()
      stopping.abort()
      await background.stop()
    },
  }
}

/** How long a device that waits by HTTP waits for what is triggered when it has looked. */
async function timeOfPoll({ deps, caller }: Awaited<ReturnType<typeof openWithoutWakeUps>>): Promise<number> {
  const { ownerNo } = caller
  let isWatching = () => {}
  const hasLooked = new Promise<void>((resolve) => {
    isWatching = resolve
  })
  const store = {
    readQueues: async (wanted: Parameters<typeof deps.store.readQueues>[0]) => {
      const queues = await deps.store.readQueues(wanted)
      isWatching()
      return queues
    },
  }
  const waitLimit = { waitMs: 60_000, callerGone: deps.stopping }
  const waiting = waitForPending(
    { ...deps, store },
    { ownerNo, deviceId: 'polls' },
    waitLimit,
    async () => {},
  )
  await hasLooked
  const begun = performance.now()
  await triggerJob(deps, caller, { jobName: 'restart', deviceIds: ['polls'] })
  await waiting
  return performance.now() - begun
}

/** The next notice that is one of these. */
function nextNotice(line: MqttLine, matches: (suffix: string, json: Json) => boolean): Promise<number> {
  const begun = performance.now()
  return new Promise((resolve) => {
    line.onNotice = (suffix, json) => {
      if (matches(suffix, json)) resolve(performance.now() - begun)
    }
  })
}

const isNext = (suffix: string, json: Json) => suffix === 'notify-next' && json.execution !== undefined

test('with every wake-up lost a device gets its execution, and its cancel, within 5 s', async (t) => {
  const deviceIds = Array.from({ length: 5 }, (_, index) => `d${index + 1}`)
  const server = await openWithoutWakeUps(t, [...deviceIds, 'polls'])
  try {
    const { deps, caller } = server
    const lines = await Promise.all(deviceIds.map((id) => server.connect(id)))
    const polling = within(boundMs, 'the long poll was not answered', timeOfPoll(server))
    polling.catch(() => undefined)
    const times = await Promise.all(
      deviceIds.map(async (deviceId, index) => {
        const line = lines[index] as MqttLine
        // The cancel comes just after a sweep has found the execution, so it waits as long as anything ever does.
        const told = nextNotice(line, isNext)
        const run = await triggerJob(deps, caller, { jobName: 'restart', deviceIds: [deviceId] })
        const delivery = await within(boundMs, `${deviceId} was not told of its execution`, told)

        const jobId = run.firstExecutionId
        const { execution } = accepted(await line.request('start-next', {}))
        assert.equal(execution.jobId, String(jobId))
        const canceled = nextNotice(line, (suffix) => suffix === `${jobId}/cancel`)
        await cancelExecution(deps, caller, jobId, false)
        const cancel = await within(boundMs, `${deviceId} was not told of its cancel`, canceled)
        accepted(await line.request(`${jobId}/update`, { status: 'CANCELED' }))
        return { delivery, cancel }
      }),
    )
    const polled = Math.round(await polling)
    const slowest = (name: 'delivery' | 'cancel') => Math.round(Math.max(...times.map((each) => each[name])))
    t.diagnostic(
      `the slowest delivery took ${slowest('delivery')} ms, the slowest cancel ${slowest('cancel')} ms, a long poll ${polled} ms`,
    )
    assert.deepEqual(server.failures, [])
  } finally {
    await server.stop()
  }
})
