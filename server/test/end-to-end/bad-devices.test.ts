// Faulty devices do not affect others: one that never reads, one that reconnects constantly, one that sends invalid data.
// "npm run test:bad-devices" adds 1000 healthy devices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badBehaviours, startBadDevices } from '@jobcast/testkit/bad-devices'
import { MqttLine } from '@jobcast/testkit/mqtt-line'
import { percentile } from '@jobcast/testkit/percentile'
import { accepted, deviceFilters, succeed } from '@jobcast/testkit/simulated-device'
import { type SpawnedServer, spawnServer } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const count = testSize('devices', { test: 20, chaos: 300 })
const rounds = testSize('rounds', { test: 2, chaos: 20 })
const healthy = deviceIdsUpTo(count)
const failsafeMs = 120_000
const megabyte = 1024 * 1024
/** 34,000 connections that came and went in a minute left 190 MB more, the last 10,000 of them nothing. */
const mostGrowth = 256 * megabyte

/** A large document, so that much data is waiting for the device that does not read. */
const document = { text: 'x'.repeat(60_000) }

async function metric(server: SpawnedServer, name: string): Promise<number> {
  const { text } = await server.call('GET', '/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

test(
  `a stuck, a flapping and a faulty device do not affect ${count} healthy ones (seed ${testSeed})`,
  longTest,
  async (t) => {
    const folder = newTemporaryFolder()
    const all = [...healthy, ...badBehaviours]
    await seedData(folder, { jobs: ['restart'], deviceIds: all })
    const tokens = seedTokens(folder, all)
    const tokenOf = (deviceId: string) => tokens.get(deviceId) as string
    const server = await spawnServer(folder)
    t.after(() => server.end('SIGKILL'))
    removeAfter(t, folder)
    assert.equal((await server.call('PUT', '/job/api/jobs/large', { body: { document } })).status, 201)

    const lines = await Promise.all(
      healthy.map(async (deviceId) => {
        const line = await MqttLine.open(server.mqtt, { deviceId, token: tokenOf(deviceId) })
        await line.subscribe(...deviceFilters)
        return line
      }),
    )
    t.after(() => {
      for (const line of lines) line.cut()
    })

    /** Triggers all devices, and returns the time until each was notified; each runs its execution. */
    const runRound = async (): Promise<number[]> => {
      const begun = performance.now()
      const times = lines.map(async (line) => {
        await new Promise<void>((resolve) => {
          line.onNotice = (suffix, { execution }) => {
            if (suffix === 'notify-next' && execution) resolve()
          }
        })
        const ms = performance.now() - begun
        await succeed(line, accepted(await line.request('start-next', {})).execution)
        return ms
      })
      const reply = await server.trigger('restart', healthy)
      assert.equal(reply.status, 201)
      const gone = Promise.race(lines.map((line) => line.closed)).then(() => {
        throw new Error('a healthy device lost its connection')
      })
      const done = await within(failsafeMs, 'not all were told', Promise.race([Promise.all(times), gone]))
      const run = (await server.call('GET', reply.headers.get('location') as string)).json
      assert.equal(run.counts.SUCCEEDED, count)
      return done
    }
    const runRounds = async (between: () => Promise<void>) => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        await between()
        times.push(...(await runRound()))
      }
      return times
    }

    // The first ones are slower, whoever else is there.
    for (let i = 0; i < rounds; i++) await runRound()
    const before = await runRounds(async () => undefined)
    const memoryBefore = await metric(server, 'process_resident_memory_bytes')
    const triggerBad = async () => {
      assert.equal((await server.trigger('large', [...badBehaviours])).status, 201)
    }
    await triggerBad()
    const bad = await startBadDevices({
      mqtt: server.mqtt,
      seed: testSeed,
      tokens: { stuck: tokenOf('stuck'), flapping: tokenOf('flapping'), poisoned: tokenOf('poisoned') },
    })
    const during = await runRounds(triggerBad)
    const memoryDuring = await metric(server, 'process_resident_memory_bytes')
    const counts = await bad.stop()

    assert.equal(server.process.exitCode, null)
    for (const failures of ['jobcast_http_failures_total', 'jobcast_device_failures_total']) {
      assert.equal(await metric(server, failures), 0, failures)
    }
    assert.ok(!server.output.lines.some((line) => /"level":"(error|fatal)"/.test(line)), 'the log has errors')
    assert.equal(counts.heardOut, 0, 'the server continues to read from a device that reads nothing')
    const growth = memoryDuring - memoryBefore
    t.diagnostic(
      `told after p50 ${percentile(before, 50)}, p99 ${percentile(before, 99)} before; ` +
        `p50 ${percentile(during, 50)}, p99 ${percentile(during, 99)} beside bad devices; ` +
        `memory ${Math.round(memoryBefore / megabyte)} MB, then ${Math.round(growth / megabyte)} MB more; ${JSON.stringify(counts)}`,
    )
    // Not a number where the system does not tell.
    assert.ok(!(growth > mostGrowth), `the memory grew by ${growth} bytes`)
    for (const behaviour of badBehaviours) assert.ok(counts[behaviour] > 0, behaviour)
  },
)
