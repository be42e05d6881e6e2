// Three nodes, a fleet spread over them and callers at all of them, while a node is killed, another stands still, the
// database is restarted as by a crash, and the nodes cannot hear each other.
// "npm run test:nodes" does it at the sizes of a release: kills, restarts, seconds of a pause, seed.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as rest } from 'node:timers/promises'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { execute, startOwnPostgres } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import type { SpawnedServer } from '@jobcast/testkit/spawn-server'
import { TriggerCaller } from '@jobcast/testkit/trigger-caller'
import { within } from '@jobcast/testkit/within'
import { deviceIdsUpTo } from '../support/seed-data.ts'
import { checkStored } from './check-stored.ts'
import { cutHearing, nodeNumbers, pause, spawnNodes, until, wake } from './spawn-nodes.ts'
import { type Way, WorkingDevice } from './working-device.ts'

const kills = Number(process.argv[2] ?? 1)
const restarts = Number(process.argv[3] ?? 3)
/** Longer than it takes until a node that stands still counts as gone. */
const pauseMs = 1000 * Number(process.argv[4] ?? 11)
const seed = Number(process.argv[5] ?? randomInt(2 ** 31))

const ways: Way[] = [...Array(60).fill('mqtt'), ...Array(6).fill('web-socket'), ...Array(6).fill('http')]
const deviceIds = deviceIdsUpTo(ways.length)
const jobs = Array.from({ length: 8 }, (_, index) => `job-${index}`)
/** So many executions wait at a time that the fleet is busy through all faults and done soon after them. */
const maxOpen = 600
const callerPatienceMs = 3000
const failsafeMs = 60_000 + 4000 * (kills + restarts) + pauseMs

/** `open`: executions that wait or are under way. */
type Count = { ended: number; open: number; hearing: number; isOver: boolean }

const postgres = await startOwnPostgres()

test(`nothing is lost or doubled by ${kills} kills, ${restarts} restarts of the database and a pause of ${pauseMs} ms (seed ${seed})`, async (t) => {
  const random = seededRandom(seed)
  const { databaseUrl, nodes } = await spawnNodes(t, 3, { server: postgres.url })
  const addresses = await Promise.all(nodes.map((node) => node.running()))
  const [first] = addresses as [SpawnedServer]
  const tokens = await seedFleet(first)

  const count: Count = { ended: 0, open: 0, hearing: 0, isOver: false }
  const fleet = ways.map((way, index) => {
    const deviceId = deviceIds[index] as string
    const token = tokens.get(deviceId) as string
    const onEnded = () => void count.ended++
    return new WorkingDevice({ deviceId, token, way, pickNode: () => random.pick(addresses), onEnded })
  })
  t.after(() => fleet.map((device) => device.stop()))
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  for (const device of fleet) device.live().catch(failure.reject)

  t.after(() => {
    count.isOver = true
  })
  const callers = jobs.map(
    (job, index) => new TriggerCaller(job, deviceIds, seededRandom(seed + index), true),
  )
  const pickApi = async (): Promise<Api> => {
    while (count.open > maxOpen && !count.isOver) await rest(10)
    // Whoever is refused, or finds nobody, does not come back at once.
    await rest(random.below(20))
    return impatient(random.pick(addresses))
  }
  const calling = Promise.all(callers.map((caller) => caller.callUntil(() => count.isOver, pickApi)))
  calling.catch(failure.reject)
  const cutting = cutNowAndThen(databaseUrl, random, count)
  cutting.catch(failure.reject)
  const counting = countOpen(databaseUrl, count)

  const progress = () => JSON.stringify(count)
  const guarded = <T>(work: Promise<T>) => within(failsafeMs, progress, Promise.race([work, failure.promise]))
  await guarded(someWork(count))
  const killAndRestart = async () => {
    await killSome(nodes, addresses, random, count)
    await restartDatabase(random, count)
  }
  await guarded(Promise.all([standStill(databaseUrl, nodes[2] as RestartingServer), killAndRestart()]))
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
  assert.ok(answered > 20 && seen.executions > 300, 'too little was answered to prove anything')
  for (const { output } of await Promise.all(nodes.map((node) => node.running()))) {
    assert.equal(output.errors, '', 'a node has said something on stderr')
  }
})

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
 * up may still be under way there: a twin of it that is told so has no answer either.
 */
function impatient({ http, adminKey }: SpawnedServer): Api {
  const api = buildApi(http, adminKey)
  const giveUp = () => rest(callerPatienceMs).then(() => Promise.reject(new Error('no answer')))
  return {
    ...api,
    async trigger(...input) {
      const reply = await Promise.race([api.trigger(...input), giveUp()])
      if (reply.json?.code === 'J-502') throw new Error('a twin is still running')
      return reply
    },
  }
}

/** What waits is counted where it is: an end whose answer got lost is one all the same. */
async function countOpen(databaseUrl: string, count: Count): Promise<void> {
  while (!count.isOver) {
    const [row] = await execute(
      databaseUrl,
      'SELECT coalesce(sum(pending + in_progress), 0)::int AS open FROM run WHERE NOT ended',
    ).catch(() => [])
    if (row) count.open = row.open as number
    await rest(200)
  }
}

/** So that there is something to lose. */
async function someWork(count: Count): Promise<void> {
  const enough = count.ended + 100
  while (count.ended < enough && !count.isOver) await rest(5)
}

async function cutNowAndThen(databaseUrl: string, random: Random, count: Count): Promise<void> {
  while (!count.isOver) {
    await rest(1500 + random.below(3000))
    count.hearing += await cutHearing(databaseUrl).catch(() => 0)
  }
}

/** It is woken once the others have taken it out. */
async function standStill(databaseUrl: string, node: RestartingServer): Promise<void> {
  const before = await nodeNumbers(databaseUrl)
  const minimum = rest(pauseMs)
  await pause(node)
  // Those that are killed meanwhile come back under other numbers.
  const staying = 2 - Math.min(kills, 2)
  const isOut = async () =>
    (await nodeNumbers(databaseUrl)).filter((no) => before.includes(no)).length === staying
  await Promise.all([minimum, until('it is taken out', isOut)])
  await wake(node)
}

/** Devices and callers go where a node was last, until it is there again. */
async function killSome(
  nodes: RestartingServer[],
  addresses: SpawnedServer[],
  random: Random,
  count: Count,
): Promise<void> {
  for (let killed = 0; killed < kills && !count.isOver; killed++) {
    // A kill has no event to wait for: any instant will do.
    await rest(random.below(500))
    addresses[killed % 2] = await (nodes[killed % 2] as RestartingServer).killAndStart()
  }
}

async function restartDatabase(random: Random, count: Count): Promise<void> {
  for (let restarted = 0; restarted < restarts && !count.isOver; restarted++) {
    const enough = count.ended + 20
    while (count.ended < enough && !count.isOver) await rest(5)
    await rest(random.below(200))
    await postgres.restart()
  }
}

async function noneLeft(databaseUrl: string, what: string): Promise<boolean> {
  const [row] = await execute(databaseUrl, `SELECT count(*)::int AS count FROM ${what}`)
  return row?.count === 0
}
