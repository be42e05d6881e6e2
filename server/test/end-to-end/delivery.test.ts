// Every execution reaches its device and its end while connections, devices and the server are killed.
// "npm run test:delivery" runs 10,000 executions.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Json, MqttLine } from '@jobcast/testkit/mqtt-line'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { accepted, SimulatedDevice, succeed } from '@jobcast/testkit/simulated-device'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo, seedData } from '../support/seed-data.ts'
import { seedTokens } from '../support/seed-tokens.ts'

const total = testSize('executions', { test: 100, chaos: 1500 })
const deviceIds = deviceIdsUpTo(Math.ceil(total / 20))
const serverKills = Math.ceil(total / 125)
/** So many wait at a time, that all of it is spread over all kills. */
const maxOpen = 2 * deviceIds.length
/** On a machine that does ten other things at once it takes a minute for every hundred. */
const failsafeMs = 120_000 + 600 * total

type Fleet = Map<string, SimulatedDevice>
/** The devices to which each execution was sent, with repetitions. */
type Reached = Map<number, string[]>

test(
  `of ${total} executions each reaches its device and its end while connections, devices and the server are killed (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const folder = newTemporaryFolder()
    await seedData(folder, { jobs: ['restart'], deviceIds })
    const tokens = seedTokens(folder, deviceIds)
    const server = new RestartingServer(folder)
    const fleet: Fleet = new Map()
    const launched = new Map<number, string>()
    const reached: Reached = new Map()
    const failure = Promise.withResolvers<never>()
    let hasFailed = false
    failure.promise.catch(() => {
      hasFailed = true
    })
    const bringToLife = (deviceId: string) => {
      fleet.get(deviceId)?.stop()
      const token = tokens.get(deviceId) as string
      const version = random.pick([4, 5] as const)
      const carryOut = (line: MqttLine, execution: Json) => {
        const id = Number(execution.jobId)
        reached.set(id, [...(reached.get(id) ?? []), deviceId])
        return carryOutSlowly(line, execution, random)
      }
      const device = new SimulatedDevice({ deviceId, token, version, address: server.address, carryOut })
      fleet.set(deviceId, device)
      device.live().catch(failure.reject)
    }
    t.after(async () => {
      failure.reject(new Error('it is over'))
      for (const device of fleet.values()) device.stop()
      await server.end()
    })
    removeAfter(t, folder)
    for (const deviceId of deviceIds) bringToLife(deviceId)

    const isOver = () => hasFailed || (launched.size === total && reached.size === total)
    const progress = () => `${launched.size} launched, ${reached.size} delivered`
    const killed = { connections: 0, devices: 0, servers: 0 }

    const work = Promise.all([
      triggerAll(server, random, launched, reached, isOver),
      killDevices(fleet, bringToLife, random, reached, killed, isOver),
      killServers(server, random, reached, killed, isOver),
    ])
    await within(failsafeMs, progress, Promise.race([work, failure.promise]))
    await within(failsafeMs, progress, Promise.race([waitForEnds(server), failure.promise]))

    for (const device of fleet.values()) device.stop()
    await server.end()
    checkStored(folder, launched, reached)
    for (const [what, times] of Object.entries(killed)) assert.ok(times > 0, `none of the ${what} was killed`)
    const deliveries = [...reached.values()].flat()
    t.diagnostic(
      `killed: ${killed.servers} servers, ${killed.devices} devices, ${killed.connections} connections; ` +
        `${deliveries.length} deliveries of ${total} executions`,
    )
  },
)

/** In several steps, so that kills come in the middle of it. */
async function carryOutSlowly(line: MqttLine, execution: Json, random: Random): Promise<void> {
  for (let step = random.below(6); step > 0; step--) {
    const answer = await line.request(`${execution.jobId}/update`, {
      status: 'IN_PROGRESS',
      statusDetails: { step: String(step) },
    })
    // A report of the connection before may have ended it.
    if (answer.json.code === 'InvalidStateTransition') return
    accepted(answer)
  }
  await succeed(line, execution)
}

/** Each call has a key and is made until it is answered, whatever server answers it. */
async function triggerAll(
  server: RestartingServer,
  random: Random,
  launched: Map<number, string>,
  reached: Reached,
  isOver: () => boolean,
): Promise<void> {
  for (let call = 0; launched.size < total; call++) {
    await progressed('the devices keep up', () => isOver() || launched.size - reached.size <= maxOpen)
    if (isOver()) return
    const wanted = random.some(deviceIds, Math.min(1 + random.below(10), total - launched.size))
    const headers = { 'idempotency-key': `call-${call}` }
    let reply: Awaited<ReturnType<Awaited<ReturnType<typeof server.running>>['trigger']>> | undefined
    while (reply === undefined) {
      const api = await server.running()
      reply = await api.trigger('restart', wanted, { headers }).catch(() => undefined)
    }
    assert.equal(reply.status, 201, reply.text)
    for (const { jobExecutionId, deviceId } of reply.json) launched.set(jobExecutionId, deviceId)
  }
}

/** Cuts connections, and kills devices, which return without state; more often with growing progress. */
async function killDevices(
  fleet: Fleet,
  bringToLife: (deviceId: string) => void,
  random: Random,
  reached: Reached,
  killed: { connections: number; devices: number },
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const enough = 2 * (killed.connections + killed.devices) + random.below(4)
    await progressed(`${enough} are delivered`, () => isOver() || reached.size >= enough)
    const deviceId = random.pick(deviceIds)
    const line = fleet.get(deviceId)?.line
    if (line === undefined || line.isClosed) continue
    // The first in any case, so that no seed is without one.
    if (killed.devices === 0 || random.chance(0.2)) {
      bringToLife(deviceId)
      killed.devices++
    } else {
      line.cut()
      killed.connections++
    }
  }
}

/** Spread over the whole of it. */
async function killServers(
  server: RestartingServer,
  random: Random,
  reached: Reached,
  killed: { servers: number },
  isOver: () => boolean,
): Promise<void> {
  for (; killed.servers < serverKills && !isOver(); killed.servers++) {
    const share = Math.floor(total / serverKills)
    const enough = killed.servers * share + random.below(share)
    await progressed(`${enough} are delivered`, () => isOver() || reached.size >= enough)
    await server.killAndStart()
  }
}

/** Looked at often: a kill comes in the middle of what follows. */
const progressed = (what: string, isSo: () => boolean) =>
  waitUntil(what, isSo, { timeoutMs: failsafeMs, intervalMs: 2 })

async function waitForEnds(server: RestartingServer): Promise<void> {
  const api = await server.running()
  for (let cursor = ''; cursor !== undefined; ) {
    const page = (await api.call('GET', `/job/api/runs?limit=200${cursor && `&cursor=${cursor}`}`)).json
    for (const { runId } of page.items) {
      let finished = false
      while (!finished) finished = (await api.call('GET', `/job/api/runs/${runId}?wait=60`)).json.finished
    }
    cursor = page.nextCursor
    if (cursor === null) break
  }
}

/** The stored executions match the responses; each has its device, one start, one end, and versions without gaps. */
function checkStored(folder: string, launched: Map<number, string>, reached: Reached): void {
  const db = new DatabaseSync(join(folder, 'jobcast.db'), { readOnly: true })
  const executions = db
    .prepare(
      'SELECT execution_id, device_id, state, version_number FROM execution JOIN device USING (device_no)',
    )
    .all()
  assert.deepEqual(
    new Map(executions.map((row) => [row.execution_id as number, row.device_id as string])),
    new Map([...launched].toSorted(([a], [b]) => a - b)),
  )
  const history = db.prepare(
    'SELECT event, version_number FROM transition WHERE execution_id = ? ORDER BY version_number',
  )
  for (const row of executions) {
    const id = row.execution_id as number
    assert.deepEqual(
      [...new Set(reached.get(id))],
      [row.device_id],
      `execution ${id} reached others or nobody`,
    )
    assert.equal(row.state, 'SUCCEEDED', `execution ${id}`)
    const moves = history.all(id)
    assert.deepEqual(
      moves.map((move) => move.event),
      ['start', 'succeed'],
      `execution ${id}`,
    )
    assert.equal(moves[0]?.version_number, 2)
    assert.equal(moves[1]?.version_number, row.version_number)
  }
  db.close()
}
