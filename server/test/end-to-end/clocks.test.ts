// The timers of executions fire in time, also when the server is killed while they run, and a wrong wall clock does not affect
// them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { within } from '@jobcast/testkit/within'

// The guarantee is 2 s; this bound also holds on a busy machine.
const lateMs = 90_000

/** On a machine so busy that a start takes long, what must happen before a clock fires does too. */
function secondsFor(startMs: number, least: number): number {
  return Math.min(Math.max(Math.ceil((2 * startMs) / 1000), least), 20)
}

type Running = { api: Api; device: DeviceCalls; jobExecutionId: number }

type Scenario = {
  name: string
  /** `seconds` is how long its clock takes. */
  job: (seconds: number) => object
  /** Up to where the clock runs. */
  begin: (running: Running) => Promise<unknown>
  /** Until the clock has fired, if that is not the end of the execution. */
  end?: (running: Running) => Promise<unknown>
  /** Event, actor, state after it and attempt, of every step after the trigger. */
  history: string[]
}

const start = async ({ device }: Running) => {
  assert.equal((await device.startNext()).json.execution.status, 'IN_PROGRESS')
}
const fail = async ({ device, jobExecutionId }: Running) => {
  assert.equal((await device.update(jobExecutionId, 'FAILED')).status, 200)
}
/** Until it is offered again. */
const waitForOffer = async ({ device, jobExecutionId }: Running) => {
  let pending: { jobId: string; executionNumber: number }[] = []
  while (pending.length === 0) pending = (await device.call('GET', '?wait=60')).json.queuedJobs
  assert.deepEqual(
    pending.map(({ jobId, executionNumber }) => [jobId, executionNumber]),
    [[String(jobExecutionId), 2]],
  )
}
const waitForEnd = async ({ api, jobExecutionId }: Running) => {
  const path = `/job/api/executions/${jobExecutionId}?wait=60`
  while ((await api.call('GET', path)).json.finishedAt === null);
}

const scenarios: Scenario[] = [
  {
    name: 'expire',
    job: (seconds) => ({ expireAfterSeconds: seconds }),
    begin: async () => undefined,
    history: ['expire clock EXPIRED 1'],
  },
  {
    name: 'time-out',
    job: (seconds) => ({ timeoutSeconds: seconds, expireAfterSeconds: 60 }),
    begin: start,
    history: ['start device IN_PROGRESS 1', 'time-out clock TIMED_OUT 1'],
  },
  {
    name: 'deadline-pending',
    job: (seconds) => ({ deadlineSeconds: seconds, expireAfterSeconds: 60 }),
    begin: async () => undefined,
    history: ['miss-deadline clock TIMED_OUT 1'],
  },
  {
    name: 'deadline-working',
    job: (seconds) => ({
      deadlineSeconds: seconds,
      timeoutSeconds: 60,
      retry: { max: 3, backoffSeconds: 0 },
    }),
    begin: start,
    history: ['start device IN_PROGRESS 1', 'miss-deadline clock TIMED_OUT 1'],
  },
  {
    name: 'retry',
    job: (seconds) => ({ retry: { max: 1, backoffSeconds: seconds } }),
    begin: async (running) => {
      await start(running)
      await fail(running)
      assert.equal((await running.device.startNext()).json.execution, undefined, 'it rests')
    },
    end: waitForOffer,
    history: ['start device IN_PROGRESS 1', 'retry device PENDING 1'],
  },
  {
    name: 'expire-retry',
    job: (seconds) => ({ retry: { max: 1, backoffSeconds: 0 }, expireAfterSeconds: seconds }),
    begin: async (running) => {
      await start(running)
      await fail(running)
      await waitForOffer(running)
    },
    history: ['start device IN_PROGRESS 1', 'retry device PENDING 1', 'expire clock EXPIRED 2'],
  },
  {
    name: 'time-out-retry',
    job: (seconds) => ({ retry: { max: 1, backoffSeconds: 0 }, timeoutSeconds: seconds }),
    begin: start,
    end: waitForOffer,
    history: ['start device IN_PROGRESS 1', 'retry clock PENDING 1'],
  },
  {
    name: 'cancel',
    job: () => ({ timeoutSeconds: 60 }),
    begin: async (running) => {
      await start(running)
      const path = `/job/api/executions/${running.jobExecutionId}/cancel`
      assert.equal((await running.api.call('POST', path)).json.execState, 'CANCELING')
    },
    history: ['start device IN_PROGRESS 1', 'cancel key CANCELING 1', 'overrun-cancel clock CANCELED 1'],
  },
]

async function begin(api: Api, { name, job, begin }: Scenario, seconds: number): Promise<Running> {
  const [device, put] = await Promise.all([
    newDevice(api, name),
    api.call('PUT', `/job/api/jobs/${name}`, { body: job(seconds) }),
  ])
  assert.equal(put.status, 201, put.text)
  const [{ jobExecutionId }] = (await api.trigger(name, [name])).json
  const running = { api, device, jobExecutionId }
  await begin(running)
  return running
}

async function waitForClock(running: Running, { name, end = waitForEnd, history }: Scenario): Promise<void> {
  await within(
    lateMs,
    `${name} does not fire`,
    end(running).then(() => undefined),
  )
  const path = `/job/api/executions/${running.jobExecutionId}/history`
  const [first, ...items] = (await running.api.call('GET', path)).json.items
  assert.deepEqual([first.event, first.to], ['trigger', 'PENDING'])
  assert.deepEqual(
    items.map((step: Record<string, string>) =>
      [step.event, step.actor?.split(' ')[0], step.to, step.attempt].join(' '),
    ),
    history,
    name,
  )
  const versions = [first, ...items].map((step) => step.versionNumber)
  assert.deepEqual(
    versions,
    versions.map((_, index) => index + 1),
  )
}

test('every timer fires at its time, and not before it', async (t) => {
  const opened = performance.now()
  const leastSeconds = 1
  const api = await openServer(t, { cancelDeadlineSeconds: leastSeconds })
  const seconds = secondsFor(performance.now() - opened, leastSeconds)
  const late = await Promise.all(
    scenarios.map(async (scenario) => {
      const begun = performance.now()
      const running = await begin(api, scenario, seconds)
      const begunBy = performance.now()
      await waitForClock(running, scenario)
      const now = performance.now()
      // Up to half of a rest is taken off at random.
      const least = scenario.name === 'retry' ? 500 : 1000
      const ms = least * (scenario.name === 'cancel' ? leastSeconds : seconds)
      assert.ok(now - begun >= ms, `${scenario.name} fired after ${now - begun} ms`)
      return now - begunBy - ms
    }),
  )
  t.diagnostic(`the latest fired ${Math.round(Math.max(...late))} ms after its time`)
})

test('every timer that runs when the server is killed fires after its restart', async (t) => {
  const leastSeconds = 2
  const folder = newTemporaryFolder()
  const spawned = performance.now()
  const server = new RestartingServer(folder, '--cancel-deadline', String(leastSeconds))
  t.after(() => server.end())
  const before = await server.running()
  // A process takes more than twice as long to start as these requests take.
  const seconds = secondsFor((performance.now() - spawned) / 2, leastSeconds)
  const begun = performance.now()
  const running = await Promise.all(scenarios.map((scenario) => begin(before, scenario, seconds)))
  await server.kill()
  const killedMs = performance.now() - begun
  const api = await openServer(t, { dataFolder: folder, cancelDeadlineSeconds: leastSeconds })
  removeAfter(t, folder)
  const readyMs = performance.now() - begun
  await Promise.all(
    scenarios.map((scenario, index) => {
      const { device, jobExecutionId } = running[index] as Running
      const again = deviceCalls(api.http, device.deviceId, device.token)
      return waitForClock({ api, device: again, jobExecutionId }, scenario)
    }),
  )
  const ms = [killedMs, readyMs, performance.now() - begun].map(Math.round)
  t.diagnostic(
    `killed after ${ms[0]} ms, ready after ${ms[1]} ms, all clocks of ${seconds} s had fired after ${ms[2]} ms`,
  )
})

const minute = 60_000
const hour = 60 * minute

/** A server whose two clocks are controlled by the test. */
async function openWithClocks(t: TestContext) {
  const clocks = { wall: Date.UTC(2026, 10, 15), steady: 1_000_000 }
  const api = await openServer(t, { now: () => clocks.wall, elapsed: () => clocks.steady })
  await api.call('PUT', '/job/api/jobs/canary', { body: { expireAfterSeconds: 1 } })
  await api.call('PUT', '/job/api/devices/canary')
  return {
    api,
    setWall(jump: number) {
      clocks.wall += jump
    },
    pass(ms: number) {
      clocks.steady += ms
      clocks.wall += ms
    },
    /** Once an execution that is due by now has ended, all clocks have been looked at. */
    async letClocksFire() {
      const [{ jobExecutionId }] = (await api.trigger('canary', ['canary'])).json
      clocks.steady += 1000
      clocks.wall += 1000
      const path = `/job/api/executions/${jobExecutionId}?wait=60`
      assert.equal((await within(lateMs, 'no clock fires', api.call('GET', path))).json.execState, 'EXPIRED')
    },
  }
}

test('a jump of the wall clock ends nothing early, starts nothing twice, and delays nothing', async (t) => {
  const { api, setWall, pass, letClocksFire } = await openWithClocks(t)
  const jobs: Record<string, object> = {
    waits: { expireAfterSeconds: 120 },
    works: { timeoutSeconds: 120, expireAfterSeconds: 120 },
    bound: { deadlineSeconds: 120 },
    rests: { retry: { max: 1, backoffSeconds: 240 } },
    cancels: {},
  }
  const devices = new Map<string, DeviceCalls>()
  const ids = new Map<string, number>()
  for (const [name, body] of Object.entries(jobs)) {
    await api.call('PUT', `/job/api/jobs/${name}`, { body })
    devices.set(name, await newDevice(api, name))
    ids.set(name, (await api.trigger(name, [name])).json[0].jobExecutionId)
  }
  const device = (name: string) => devices.get(name) as DeviceCalls
  const read = async (name: string) => (await api.call('GET', `/job/api/executions/${ids.get(name)}`)).json
  for (const name of ['works', 'bound', 'rests', 'cancels']) await device(name).startNext()
  await device('rests').update(ids.get('rests') as number, 'FAILED')
  await api.call('POST', `/job/api/executions/${ids.get('cancels')}/cancel`)
  const states = async () => {
    const all: Record<string, string> = {}
    for (const name of ids.keys()) {
      const { execState, attempt } = await read(name)
      all[name] = `${execState} ${attempt}`
    }
    return all
  }
  const begun = {
    waits: 'PENDING 1',
    works: 'IN_PROGRESS 1',
    bound: 'IN_PROGRESS 1',
    rests: 'PENDING 2',
    cancels: 'CANCELING 1',
  }
  // The deadline of a cancel is 60 s, and of these the canary takes five.
  for (const jump of [hour, 24 * hour, -25 * hour, -hour, hour]) {
    setWall(jump)
    await letClocksFire()
    assert.deepEqual(await states(), begun, `after a jump of ${jump} ms`)
    const { execution } = (await device('works').startNext()).json
    assert.deepEqual([execution.jobId, execution.versionNumber], [String(ids.get('works')), 2])
    assert.ok(execution.approximateSecondsBeforeTimedOut > 110)
    assert.equal((await device('rests').startNext()).json.execution, undefined)
  }
  const { items } = (await api.call('GET', `/job/api/executions/${ids.get('works')}/history`)).json
  assert.equal(items.length, 2)

  setWall(-24 * hour)
  pass(minute - 7000)
  await letClocksFire()
  assert.deepEqual(await states(), begun, 'nothing is due')
  await letClocksFire()
  assert.deepEqual(await states(), { ...begun, cancels: 'CANCELED 1' })
  pass(minute)
  await letClocksFire()
  const ended = { waits: 'EXPIRED 1', works: 'TIMED_OUT 1', bound: 'TIMED_OUT 1', cancels: 'CANCELED 1' }
  assert.deepEqual(await states(), { ...begun, ...ended })
  // Up to half of the rest is taken off at random.
  pass(2 * minute)
  await letClocksFire()
  assert.equal((await device('rests').startNext()).json.execution.executionNumber, 2)
})
