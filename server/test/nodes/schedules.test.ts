// Each occurrence creates one run, on nodes that share a database and on one embedded store, with kills and pauses around the
// instant. ../dispatch/schedule-ticker.test.ts checks this for every step of a node.
// "node <this file> occurrences=60 kills=40" takes about half an hour.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { openServer } from '@jobcast/testkit/open-server'
import { instantOfFault, RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { spawnNodes, standStill } from './spawn-nodes.ts'

const schedules = testSize('occurrences', { test: 6, chaos: 20 })
const rounds = testSize('kills', { test: 1, chaos: 4 })
/** From when they are made to their instant, at least; one that is past is refused. */
const leastAheadMs = 2500
const random = seededRandom(testSeed)

/** Somewhere around the instant. */
const aroundIt = (at: number) => instantOfFault(at - Date.now() - 300 + random.below(1200))

/** Many of one instant. Gives their names. */
async function makeAll(api: Api, round: string, at: number): Promise<string[]> {
  const names = Array.from({ length: schedules }, (_, index) => `${round}-${index}`)
  const when = { at: new Date(at).toISOString() }
  const targets = { deviceIds: ['d1', 'd2'] }
  // A second run would find its devices busy otherwise, and stay unseen.
  const body = { jobName: 'collect', targets, when, catchUpSeconds: 600, overlap: 'QUEUE' }
  await Promise.all(
    names.map(async (name) => {
      const reply = await api.call('PUT', `/job/api/schedules/${name}`, { body })
      assert.equal(reply.status, 201, reply.text)
    }),
  )
  return names
}

/** A busy machine needs longer to make them: as it does for some that are not due today. */
async function timeToMake(api: Api): Promise<number> {
  const begun = performance.now()
  await makeAll(api, 'tomorrow', Date.now() + 24 * 60 * 60_000)
  return Math.max(leastAheadMs, 4 * (performance.now() - begun))
}

/** Each has made one run, and has told so once. */
async function assertOnce(api: Api, names: string[]): Promise<void> {
  for (const name of names) {
    await waitUntil(`${name} has run and is through`, async () => {
      const { lastRunId, nextAt } = (await api.call('GET', `/job/api/schedules/${name}`)).json
      return lastRunId !== null && nextAt === null
    })
  }
  const once = names.map(() => 1)
  const runs = await Promise.all(
    names.map(
      async (name) => (await api.call('GET', `/job/api/runs?scheduleName=${name}`)).json.items.length,
    ),
  )
  assert.deepEqual(runs, once)
  const events = await countFired(api, names)
  assert.deepEqual(
    names.map((name) => events.get(name)),
    once,
  )
}

async function countFired(api: Api, names: string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const response = await fetch(`${api.http}/job/api/events?after=0&types=schedule.fired`, {
    headers: { 'x-api-key': api.adminKey },
    signal: AbortSignal.timeout(60_000),
  })
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString()
    const fired = [...text.matchAll(/"scheduleName":"([^"]+)"/g)].map(([, name]) => name ?? '')
    counts.clear()
    for (const name of fired) counts.set(name, (counts.get(name) ?? 0) + 1)
    if (names.every((name) => counts.has(name))) break
  }
  return counts
}

test(
  `two nodes, one of which is paused and then killed around the instant, make one run of each occurrence (seed ${testSeed})`,
  longTest,
  async (t) => {
    const { nodes, beside } = await spawnNodes(t, 1, { beside: 1 })
    const [victim, api] = [nodes[0] as RestartingServer, beside[0] as Api]
    await api.putJobAndDevices('collect', ['d1', 'd2'])
    const aheadMs = await timeToMake(api)
    for (let round = 0; round < rounds; round++) {
      const begun = Date.now()
      const [pausedAt, killedAt] = [begun + aheadMs, begun + 2 * aheadMs]
      const paused = await makeAll(api, `paused-${round}`, pausedAt)
      const killed = await makeAll(await victim.running(), `killed-${round}`, killedAt)
      await aroundIt(pausedAt)
      await standStill(victim, Math.max(0, pausedAt + 1200 - Date.now()))
      await aroundIt(killedAt)
      const { start } = await victim.kill()
      if (round + 1 < rounds) await start()
      await assertOnce(api, [...paused, ...killed])
    }
  },
)

test(
  `embedded: killed around the instant and while devices start to match, it makes one run of each (seed ${testSeed})`,
  longTest,
  async (t) => {
    const folder = temporaryFolder(t)
    const server = new RestartingServer(folder)
    t.after(() => server.end())
    let api: Api = await server.running()
    await api.putJobAndDevices('collect', ['d1', 'd2'])
    const aheadMs = await timeToMake(api)
    await api.call('PUT', '/job/api/jobs/update', { body: {} })
    const body = { jobName: 'update', targets: { where: 'fw<2' }, when: { match: true } }
    assert.equal((await api.call('PUT', '/job/api/schedules/match', { body })).status, 201)
    const devices: string[] = []
    for (let round = 0; round < rounds; round++) {
      const at = Date.now() + aheadMs
      const names = await makeAll(api, `r${round}`, at)
      const killed = aroundIt(at).then(() => server.kill())
      devices.push(...(await makeMatch(api, round, at)))
      const { start } = await killed
      const isLast = round + 1 === rounds
      api = isLast ? await openServer(t, { dataFolder: folder }) : await start()
      // The last one may not have been answered.
      await putMatching(api, devices.at(-1) as string)
      await assertOnce(api, names)
    }
    const given = () => listDevices(api)
    await waitUntil('every device has it', async () => new Set(await given()).size === devices.length)
    assert.deepEqual((await given()).sort(), devices.sort())
  },
)

/** Devices that match, just before the instant and until nobody answers. Gives their names. */
async function makeMatch(api: Api, round: number, at: number): Promise<string[]> {
  await instantOfFault(at - Date.now() - 300)
  const made: string[] = []
  while (made.length < 40) {
    const deviceId = `m${round}-${made.length}`
    made.push(deviceId)
    const isMade = await putMatching(api, deviceId).catch(() => false)
    if (!isMade) break
  }
  return made
}

async function putMatching(api: Api, deviceId: string): Promise<boolean> {
  const body = { attributes: { fw: '1' } }
  return (await api.call('PUT', `/job/api/devices/${deviceId}`, { body })).status <= 201
}

/** Those that the job was given to, as often as it was. */
async function listDevices(api: Api): Promise<string[]> {
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const page = (await api.call('GET', `/job/api/executions?jobName=update&limit=200${cursor}`)).json
    found.push(...page.items.map(({ deviceId }: { deviceId: string }) => deviceId))
    if (!page.nextCursor) return found
    cursor = `&cursor=${page.nextCursor}`
  }
}
