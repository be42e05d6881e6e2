// A retry never doubles, whichever node it reaches and whichever is killed meanwhile.
// "npm run test:nodes" makes 1000 calls of each key and kills 20 nodes.

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as rest } from 'node:timers/promises'
import { execute } from '@jobcast/testkit/postgres-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import type { SpawnedServer } from '@jobcast/testkit/spawn-server'
import { within } from '@jobcast/testkit/within'
import { spawnNodes } from './spawn-nodes.ts'

const callsOfEach = Number(process.argv[2] ?? 50)
const kills = Number(process.argv[3] ?? 2)
const seed = Number(process.argv[4] ?? randomInt(2 ** 31))
const atOnce = 50
const devices = ['d1', 'd2', 'd3']
const failsafeMs = 60_000 + 5000 * kills + 50 * callsOfEach

test(`the same key ${callsOfEach} times, ${atOnce} at once, at three nodes of which ${kills} are killed, makes one run (seed ${seed})`, async (t) => {
  const random = seededRandom(seed)
  const { databaseUrl, nodes } = await spawnNodes(t, 3)
  const servers = await Promise.all(nodes.map((node) => node.running()))
  await (servers[0] as SpawnedServer).putJobAndDevices('restart', devices)
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const seen = { answered: 0, twins: 0, unanswered: 0, keys: 0 }

  /** The next key begins when all calls of the one before are made: so each is met by kills. */
  const useKey = async (key: string) => {
    const bodies = new Set<string>()
    const locations = new Set<string | null>()
    let answered = 0
    const call = async () => {
      while (answered < callsOfEach) {
        const server = random.pick(servers)
        const reply = await server
          .trigger('restart', devices, { headers: { 'idempotency-key': key } })
          .catch(() => undefined)
        if (reply === undefined) {
          seen.unanswered++
          await rest(20)
        } else if (reply.status === 409) {
          assert.equal(reply.json.code, 'J-502')
          seen.twins++
          // It is told to come back later.
          await rest(random.below(50))
        } else {
          assert.equal(reply.status, 201, reply.text)
          bodies.add(reply.text)
          locations.add(reply.headers.get('location'))
          answered++
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, call))
    seen.answered += answered
    seen.keys++
    assert.deepEqual([bodies.size, locations.size], [1, 1], `${key} has several answers`)
  }
  const use = async () => {
    for (let key = 0; !isOver; key++) await useKey(`key-${key}`)
  }
  const kill = async () => {
    for (let killed = 0; killed < kills; killed++) {
      // A kill has no event to wait for: any instant will do.
      await rest(random.below(500))
      const index = random.below(nodes.length)
      servers[index] = (await nodes[index]?.killAndStart()) as SpawnedServer
    }
    // One more that nobody disturbs.
    const enough = seen.keys + 1
    while (seen.keys < enough && !isOver) await rest(20)
    isOver = true
  }
  await within(failsafeMs, () => JSON.stringify(seen), Promise.all([use(), kill()]))
  const runs = await execute(databaseUrl, 'SELECT total FROM run')
  assert.equal(runs.length, seen.keys, 'a key has made no run, or two')
  assert.ok(runs.every(({ total }) => total === devices.length))
  const [stored] = await execute(databaseUrl, 'SELECT count(*)::int AS count FROM execution')
  assert.equal(stored?.count, seen.keys * devices.length)
  t.diagnostic(
    `${seen.keys} keys, ${seen.answered} answers, ${seen.twins} calls met a twin, ${seen.unanswered} had no answer`,
  )
})
