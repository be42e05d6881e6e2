// A fleet that loses all connections at once and reconnects at once, while executions are triggered.
// "npm run test:reconnect-storm" has 10,000 devices; it needs as many open files, also for the server.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCalls } from '@jobcast/testkit/calls-meanwhile'
import { LineClosed, MqttLine } from '@jobcast/testkit/mqtt-line'
import { percentile } from '@jobcast/testkit/percentile'
import { accepted, deviceFilters, succeed } from '@jobcast/testkit/simulated-device'
import { spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const count = testSize('devices', { test: 150, chaos: 3000 })
const deviceIds = deviceIdsUpTo(count)
// The guarantee for 10,000 is 60 s; this bound also holds on a busy machine.
const boundMs = 120_000

class StormDevice {
  readonly deviceId: string
  readonly #signIn: { deviceId: string; token: string; version: 4 | 5; from?: string }
  #line: MqttLine | undefined
  #told = Promise.withResolvers<number>()
  retries = 0

  constructor(deviceId: string, token: string, index: number) {
    this.deviceId = deviceId
    // One address has ports for 28,000 connections, and those that were closed count for a minute.
    const from = process.platform === 'linux' ? { from: `127.0.0.${2 + (index % 8)}` } : {}
    this.#signIn = { deviceId, token, version: index % 2 === 0 ? 4 : 5, ...from }
  }

  /** Until it is in: a network that is overrun may refuse it. */
  async connect(mqtt: string): Promise<void> {
    for (;;) {
      try {
        const line = await MqttLine.open(mqtt, this.#signIn)
        line.onNotice = (suffix, { execution }) => {
          if (suffix === 'notify-next' && execution) this.#told.resolve(Number(execution.jobId))
        }
        await line.subscribe(...deviceFilters)
        this.#line = line
        return
      } catch (error) {
        if (!(error instanceof LineClosed)) throw error
        this.retries++
      }
    }
  }

  cut(): Promise<void> | undefined {
    this.#line?.cut()
    return this.#line?.closed
  }

  /** What it was told first since it came back is what it carries out. */
  async carryOut(): Promise<number> {
    const told = await this.#told.promise
    const line = this.#line as MqttLine
    const { execution } = accepted(await line.request('start-next', {}))
    assert.equal(Number(execution.jobId), told, `${this.deviceId} was notified of another`)
    this.#told = Promise.withResolvers()
    await succeed(line, execution)
    return told
  }
}

const ownerCalls = [
  { method: 'GET', path: '/job/api/runs' },
  { method: 'GET', path: '/job/api/devices?online=true' },
  { method: 'POST', path: '/job/api/jobs/execute', body: { jobName: 'restart', deviceIds: ['offline'] } },
  { method: 'GET', path: '/job/api/executions?deviceId=offline' },
]

test(
  `${count} devices disconnect and return at once: each gets its executions, and the API responds meanwhile`,
  longTest,
  async (t) => {
    const folder = newTemporaryFolder()
    await seedData(folder, { jobs: ['restart'], deviceIds: [...deviceIds, 'offline'] })
    const tokens = seedTokens(folder, deviceIds)
    const server = await spawnServer(folder)
    const fleet = deviceIds.map((id, index) => new StormDevice(id, tokens.get(id) as string, index))
    t.after(async () => {
      for (const device of fleet) device.cut()
      await server.end('SIGKILL')
    })
    removeAfter(t, folder)

    const allConnect = () => Promise.all(fleet.map((device) => device.connect(server.mqtt)))
    await within(boundMs, 'not all came', allConnect())
    await Promise.all(fleet.map((device) => device.cut()))
    // The server has detected only some disconnects: other devices are notified on dead connections.
    const reply = await server.trigger('restart', deviceIds)
    assert.equal(reply.status, 201)
    const calls = await startCalls(server, ownerCalls)
    const begun = performance.now()
    await within(boundMs, 'not all came back', allConnect())
    const backMs = performance.now() - begun
    const carryingOut = Promise.all(fleet.map((device) => device.carryOut()))
    const carriedOut = await within(boundMs, 'not all got what waits for them', carryingOut)
    const doneMs = performance.now() - begun
    const { ms, failures } = await calls.stop()

    assert.deepEqual(failures, [])
    assert.deepEqual(
      carriedOut,
      reply.json.map(({ jobExecutionId }: { jobExecutionId: number }) => jobExecutionId),
    )
    const run = (await server.call('GET', reply.headers.get('location') as string)).json
    assert.deepEqual([run.finished, run.counts.SUCCEEDED], [true, count])
    assert.equal(server.process.exitCode, null)
    const retries = fleet.reduce((sum, device) => sum + device.retries, 0)
    t.diagnostic(
      `all back after ${Math.round(backMs)} ms (${retries} were turned away first), all done after ${Math.round(doneMs)} ms; ` +
        `${ms.length} calls meanwhile, p50 ${percentile(ms, 50)}, p99 ${percentile(ms, 99)}`,
    )
  },
)
