// Each occurrence makes one run, on nodes that share a database and on one embedded store, whoever is killed or paused
// around the instant. "node <this file> occurrences=60 kills=40" takes about an hour.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { instantOfFault, RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { spawnNodes, standStill } from './spawn-nodes.ts'

const schedules = testSize('occurrences', { test: 6, chaos: 20 })
const rounds = testSize('kills', { test: 1, chaos: 4 })

type Run = { runId: number; scheduledFor: string; total: number }

/** A node that answers. */
async function someApi(nodes: RestartingServer[]): Promise<Api> {
  return (nodes[0] as RestartingServer).running()
}

/** Many of one instant, which comes while nodes are being killed or stand still. */
async function fireAmidTrouble(
  nodes: RestartingServer[],
  random: Random,
  round: number,
  make: (api: Api, name: string, at: number) => Promise<unknown>,
): Promise<void> {
  let api = await someApi(nodes)
  // One that is past is refused.
  const at = Date.now() + 4000
  const names = Array.from({ length: schedules }, (_, index) => `r${round}-${index}`)
  for (const name of names) await make(api, name, at)
  const trouble = nodes.map(async (node, index) => {
    // Somewhere around the instant, each node on its own.
    await instantOfFault(at - Date.now() - 300 + random.below(1500))
    if (index === 2) await standStill(node, Math.max(0, at + 2500 - Date.now()))
    else await node.killAndStart()
  })
  await Promise.all(trouble)
  api = await someApi(nodes)
  const runsOf = async (name: string): Promise<Run[]> =>
    (await api.call('GET', `/job/api/runs?scheduleName=${name}`)).json.items
  for (const name of names) {
    await waitUntil(`${name} has run and is through`, async () => {
      const { lastRunId, nextAt } = (await api.call('GET', `/job/api/schedules/${name}`)).json
      return lastRunId !== null && nextAt === null
    })
  }
  const runs = await Promise.all(names.map(runsOf))
  assert.deepEqual(
    runs.map((each) => each.length),
    names.map(() => 1),
  )
  const events = await countFired(api, names)
  assert.deepEqual(
    names.map((name) => events.get(name)),
    names.map(() => 1),
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

async function exercise(nodes: RestartingServer[]): Promise<void> {
  const random = seededRandom(testSeed)
  const api = await someApi(nodes)
  await api.putJobAndDevices('collect', ['d1', 'd2'])
  const targets = { deviceIds: ['d1', 'd2'] }
  for (let round = 0; round < rounds; round++) {
    await fireAmidTrouble(nodes, random, round, async (asked, name, at) => {
      const when = { at: new Date(at).toISOString() }
      const reply = await asked.call('PUT', `/job/api/schedules/${name}`, {
        // A second run would find its devices busy otherwise, and stay unseen.
        body: { jobName: 'collect', targets, when, catchUpSeconds: 600, overlap: 'QUEUE' },
      })
      assert.equal(reply.status, 201, reply.text)
    })
  }
}

test(
  `three nodes killed and paused around the instant make one run of each occurrence (seed ${testSeed})`,
  longTest,
  async (t) => {
    const { nodes } = await spawnNodes(t, 3)
    await exercise(nodes)
  },
)

test(
  `embedded: a server killed around the instant makes one run of each occurrence (seed ${testSeed})`,
  longTest,
  async (t: TestContext) => {
    const folder = temporaryFolder(t)
    const server = new RestartingServer(() => startProgram(folder).ready)
    t.after(() => server.end())
    await exercise([server])
  },
)

test(
  'match: a server killed while devices start to match gives each of them the job once',
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const folder = temporaryFolder(t)
    const server = new RestartingServer(() => startProgram(folder).ready)
    t.after(() => server.end())
    let api: Api = await server.running()
    await api.call('PUT', '/job/api/jobs/update', { body: {} })
    const body = { jobName: 'update', targets: { where: 'fw<2' }, when: { match: true } }
    assert.equal((await api.call('PUT', '/job/api/schedules/match', { body })).status, 201)
    let made = 0
    for (let round = 0; round < 2 * rounds; round++) {
      for (let index = 0; index < 20; index++) {
        const attributes = { fw: '1' }
        await api.call('PUT', `/job/api/devices/m${made++}`, { body: { attributes } })
      }
      const { start } = await server.killAfter(random.below(1200))
      api = await start()
    }
    const executions = async (): Promise<string[]> => {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const page = (await api.call('GET', `/job/api/executions?limit=200${cursor}`)).json
        found.push(...page.items.map(({ deviceId }: { deviceId: string }) => deviceId))
        if (!page.nextCursor) return found
        cursor = `&cursor=${page.nextCursor}`
      }
    }
    await waitUntil('every device has it', async () => new Set(await executions()).size === made)
    assert.equal((await executions()).length, made)
  },
)
