// Three nodes with devices and callers on all of them, while a node is killed, another is suspended, the database is restarted as
// after a crash, and hints between nodes are cut. "npm run test:nodes" runs it with the sizes of a release.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { execute, startOwnPostgres } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { TriggerCaller } from '@jobcast/testkit/trigger-caller'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo } from '../support/seed-data.ts'
import { checkStored } from './check-stored.ts'
import { cutHearing, type Node, nodeNumbers, spawnNodes, standStill, until } from './spawn-nodes.ts'
import { type NodeAddress, type Way, WorkingDevice } from './working-device.ts'

const kills = testSize('kills', { test: 1, chaos: 10 })
const restarts = testSize('restarts', { test: 1, chaos: 5 })
/** Of the nodes; one more is paused, and the rest of the three nobody touches. */
const victims = Math.min(kills, 2)
/** A node stands still for so long at least: until the others count it as gone, which takes ten seconds. */
const pauseMs = 1000 * testSize('pauseSeconds', { test: 1, chaos: 20 })
/** So many executions end before, between and after the faults, at most: enough to lose some. */
const executionsPerFault = testSize('executionsPerFault', { test: 30, chaos: 1000 })

/** Ten of twelve by MQTT, one by WebSocket, one by HTTP. */
const twelves = testSize('twelves', { test: 1, chaos: 6 })
const ways: Way[] = [
  ...Array(10 * twelves).fill('mqtt'),
  ...Array(twelves).fill('web-socket'),
  ...Array(twelves).fill('http'),
]
const deviceIds = deviceIdsUpTo(ways.length)
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`)
/** So many executions wait at a time that the fleet is busy through all faults and done soon after them. */
const maxOpen = Math.min(600, executionsPerFault)
const callerWaitMs = 3000
const failsafeMs = 300_000 + 45_000 * (kills + restarts) + pauseMs

/** `open`: executions that wait or are in progress. `enough`: when so many have ended, callers wait for the next fault. */
type Count = { ended: number; open: number; enough: number; hearing: number; isOver: boolean }

const postgres = await startOwnPostgres()

test(
  `nothing is lost or doubled by ${kills} kills, ${restarts} restarts of the database and a pause of ${pauseMs} ms or longer (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const options = { server: postgres.url, beside: 2 - victims }
    const { databaseUrl, nodes, beside } = await spawnNodes(t, victims + 1, options)
    const addresses: Node[] = [...(await Promise.all(nodes.map((node) => node.running()))), ...beside]
    const [first] = addresses as [Node]
    const tokens = await seedFleet(first)

    /** Where nodes were that are killed. */
    const gone = new Set<string>()
    const count: Count = { ended: 0, open: 0, enough: 0, hearing: 0, isOver: false }
    const fleet = ways.map((way, index) => {
      const deviceId = deviceIds[index] as string
      const token = tokens.get(deviceId) as string
      const onEnded = () => void count.ended++
      const pickNode = () => random.pick(addresses)
      const isGone = (node: NodeAddress) => gone.has(node.http)
      return new WorkingDevice({ deviceId, token, way, pickNode, isGone, onEnded })
    })
    t.after(() => fleet.map((device) => device.stop()))
    const failure = Promise.withResolvers<never>()
    failure.promise.catch(() => undefined)
    for (const device of fleet) device.live().catch(failure.reject)

    t.after(() => {
      count.isOver = true
    })
    const progress = () => JSON.stringify(count)
    const callers = jobs.map(
      (job, index) => new TriggerCaller(job, deviceIds, seededRandom(testSeed + index), true),
    )
    const pickApi = async (): Promise<Api> => {
      const mayCall = () => count.isOver || (count.open <= maxOpen && count.ended < count.enough)
      await waitUntil(progress, mayCall, { timeoutMs: failsafeMs })
      // Whoever is refused, or finds nobody, does not come back at once.
      await delay(random.below(20))
      return impatient(random.pick(addresses), gone)
    }
    const calling = Promise.all(callers.map((caller) => caller.callUntil(() => count.isOver, pickApi)))
    calling.catch(failure.reject)
    const cutting = cutNowAndThen(databaseUrl, random, count)
    cutting.catch(failure.reject)
    const counting = countOpen(databaseUrl, count)

    const guarded = <T>(work: Promise<T>) =>
      within(failsafeMs, progress, Promise.race([work, failure.promise]))
    await guarded(someWork(count))
    const killAndRestart = async () => {
      await killSome(nodes, addresses, gone, random, count)
      await restartDatabase(random, count)
    }
    await guarded(Promise.all([pauseLong(databaseUrl, nodes[victims] as RestartingServer), killAndRestart()]))
    await guarded(someWork(count))
    count.isOver = true
    await guarded(Promise.all([calling, cutting, counting]))

    const endedMs = await guarded(
      until('all runs have ended', () => noneLeft(databaseUrl, 'run WHERE NOT ended')),
    )
    const connected = deviceIds.filter((_, index) => ways[index] !== 'http')
    const onlineMs = await guarded(
      until('all that are connected are online', () =>
        noneLeft(databaseUrl, `device WHERE NOT online AND device_id IN ('${connected.join(`','`)}')`),
      ),
    )
    for (const device of fleet) device.stop()
    const seen = await checkStored(
      databaseUrl,
      callers,
      new Map(fleet.map((device) => [device.deviceId, device])),
    )
    const answered = callers.flatMap(({ calls }) => calls).filter(({ answer }) => answer).length
    t.diagnostic(
      `${answered} calls answered, ${seen.runs} runs (${seen.unanswered} of calls without an answer), ` +
        `${seen.executions} executions, ${seen.events} events; hearing cut ${count.hearing} times; ` +
        `all ended after ${endedMs} ms, all online after ${onlineMs} ms`,
    )
    assert.ok(answered > 10 && seen.executions > 100, 'too little was answered to prove anything')
    for (const { output } of await Promise.all(nodes.map((node) => node.running()))) {
      assert.equal(output.errors, '', 'a node has said something on stderr')
    }
  },
)

async function seedFleet(api: Api): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  for (const job of jobs)
    assert.equal((await api.call('PUT', `/job/api/jobs/${job}`, { body: {} })).status, 201)
  await Promise.all(
    deviceIds.map(async (deviceId) => {
      const path = `/job/api/devices/${deviceId}`
      assert.equal((await api.call('PUT', path, { body: {} })).status, 201)
      tokens.set(deviceId, (await api.call('POST', `${path}/credential`)).json.deviceToken)
    }),
  )
  return tokens
}

/**
 * A node that stands still answers nobody; callers give up and go elsewhere, as their programs do. The call they gave
 * up may still be in progress there: a twin of it that is told so has no answer either.
 */
function impatient({ http, adminKey }: Node, gone: ReadonlySet<string>): Api {
  const api = buildApi(http, adminKey)
  return {
    ...api,
    async trigger(...input) {
      const reply = await within(callerWaitMs, 'no answer', api.trigger(...input))
      if (gone.has(http)) throw new Error('another program may have its port')
      if (reply.json?.code === 'J-502') throw new Error('a twin is still running')
      return reply
    },
  }
}

/** What waits is counted where it is: an end whose answer got lost is one all the same. */
async function countOpen(databaseUrl: string, count: Count): Promise<void> {
  const sql = 'SELECT coalesce(sum(pending + in_progress), 0)::int AS open FROM run WHERE NOT ended'
  const isOver = async () => {
    const [row] = await execute(databaseUrl, sql).catch(() => [])
    if (row) count.open = row.open as number
    return count.isOver
  }
  await waitUntil('it is over', isOver, { timeoutMs: 10 * failsafeMs, intervalMs: 400 })
}

/** So that there is something to lose: some executions end, and more may. */
async function someWork(count: Count, least = Math.min(50, executionsPerFault)): Promise<void> {
  const enough = count.ended + least
  count.enough = Math.max(count.enough, count.ended + executionsPerFault)
  await waitUntil('some executions end', () => count.isOver || count.ended >= enough, {
    timeoutMs: failsafeMs,
  })
}

async function cutNowAndThen(databaseUrl: string, random: Random, count: Count): Promise<void> {
  while (!count.isOver) {
    const enough = count.ended + 50 + random.below(50)
    await waitUntil('some executions end', () => count.isOver || count.ended >= enough, {
      timeoutMs: 10 * failsafeMs,
    })
    count.hearing += await cutHearing(databaseUrl).catch(() => 0)
  }
}

/** It is woken once the others have taken it out. */
async function pauseLong(databaseUrl: string, node: RestartingServer): Promise<void> {
  const before = await nodeNumbers(databaseUrl)
  // Those that are killed meanwhile come back under other numbers.
  const staying = 2 - victims
  const isOut = async () =>
    (await nodeNumbers(databaseUrl)).filter((no) => before.includes(no)).length === staying
  await standStill(node, pauseMs, () => until('it is taken out', isOut))
}

/** Devices and callers go where a node was last, until it is there again. */
async function killSome(
  nodes: RestartingServer[],
  addresses: Node[],
  gone: Set<string>,
  random: Random,
  count: Count,
): Promise<void> {
  for (let killed = 0; killed < kills && !count.isOver; killed++) {
    await someWork(count, random.below(30))
    gone.add((addresses[killed % victims] as Node).http)
    addresses[killed % victims] = await (nodes[killed % victims] as RestartingServer).killAndStart()
  }
}

async function restartDatabase(random: Random, count: Count): Promise<void> {
  for (let restarted = 0; restarted < restarts && !count.isOver; restarted++) {
    await someWork(count, 10 + random.below(30))
    await postgres.restart()
  }
}

async function noneLeft(databaseUrl: string, what: string): Promise<boolean> {
  const [row] = await execute(databaseUrl, `SELECT count(*)::int AS count FROM ${what}`)
  return row?.count === 0
}
