// A retry never creates a second run, on any node and with kills of nodes.
// "npm run test:nodes" makes 1000 calls of each key and kills 20 nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execute } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { type Node, spawnNodes } from './spawn-nodes.ts'

const callsOfEach = testSize('calls', { test: 50, chaos: 300 })
const kills = testSize('kills', { test: 1, chaos: 10 })
/** Of the three nodes; the others are never killed. */
const victims = Math.min(kills, 3)
const atOnce = testSize('atOnce', { test: 25, chaos: 50 })
/** Whoever meets a twin, or nobody, comes back after so long. */
const againMs = 500
const devices = ['d1', 'd2', 'd3']
const failsafeMs = 300_000 + 45_000 * kills + 150 * callsOfEach

test(
  `the same key ${callsOfEach} times, ${atOnce} at once, at three nodes of which ${kills} are killed, makes one run (seed ${testSeed})`,
  longTest,
  async (t) => {
    const random = seededRandom(testSeed)
    const { databaseUrl, nodes, beside } = await spawnNodes(t, victims, { beside: 3 - victims })
    /** Those that run; the victims first. */
    const servers: Node[] = [...(await Promise.all(nodes.map((node) => node.running()))), ...beside]
    await (servers[0] as Node).putJobAndDevices('restart', devices)
    let isOver = false
    t.after(() => {
      isOver = true
    })
    const gone = new Set<Node>()
    /** How many calls wait for each to answer. */
    const inFlight = new Map<Node, number>()
    const seen = { answers: 0, twins: 0, unanswered: 0, keys: 0 }

    /** The next key begins when all calls of the one before are made: so each is met by kills. */
    const useKey = async (key: string) => {
      const bodies = new Set<string>()
      const locations = new Set<string | null>()
      let answered = 0
      const isAnswered = async () => {
        const server = random.pick(servers.filter((each) => !gone.has(each)))
        inFlight.set(server, (inFlight.get(server) ?? 0) + 1)
        const reply = await server
          .trigger('restart', devices, { headers: { 'idempotency-key': key } })
          .catch(() => undefined)
        inFlight.set(server, (inFlight.get(server) ?? 0) - 1)
        // Where one was killed another program of this machine may answer by now.
        if (reply === undefined || gone.has(server)) {
          seen.unanswered++
          return false
        }
        if (reply.status === 409) {
          assert.equal(reply.json.code, 'J-502')
          seen.twins++
          return false
        }
        assert.equal(reply.status, 201, reply.text)
        bodies.add(reply.text)
        locations.add(reply.headers.get('location'))
        answered++
        seen.answers++
        return true
      }
      const call = async () => {
        const options = { timeoutMs: failsafeMs, intervalMs: againMs }
        while (answered < callsOfEach) await waitUntil(`${key} is answered`, isAnswered, options)
      }
      await Promise.all(Array.from({ length: atOnce }, call))
      seen.keys++
      assert.deepEqual([bodies.size, locations.size], [1, 1], `${key} has several answers`)
    }
    const use = async () => {
      for (let key = 0; !isOver; key++) await useKey(`key-${key}`)
    }
    const kill = async () => {
      for (let killed = 0; killed < kills; killed++) {
        const index = random.below(victims)
        const victim = servers[index] as Node
        const enough = seen.answers + random.below(callsOfEach)
        const isMet = () => seen.answers >= enough && (inFlight.get(victim) ?? 0) > 0
        await waitUntil(`${enough} calls are answered`, () => isOver || isMet(), { intervalMs: 1 })
        gone.add(victim)
        const { start } = await (nodes[index] as RestartingServer).kill()
        if (killed + 1 < kills) servers[index] = await start()
      }
      // One more that nobody disturbs.
      const enough = seen.keys + 1
      await waitUntil('one more key is used', () => isOver || seen.keys >= enough)
      isOver = true
    }
    await within(failsafeMs, () => JSON.stringify(seen), Promise.all([use(), kill()]))
    const runs = await execute(databaseUrl, 'SELECT total FROM run')
    assert.equal(runs.length, seen.keys, 'a key has made no run, or two')
    assert.ok(runs.every(({ total }) => total === devices.length))
    const [stored] = await execute(databaseUrl, 'SELECT count(*)::int AS count FROM execution')
    assert.equal(stored?.count, seen.keys * devices.length)
    t.diagnostic(
      `${seen.keys} keys, ${seen.answers} answers, ${seen.twins} calls met a twin, ${seen.unanswered} had no answer`,
    )
  },
)
