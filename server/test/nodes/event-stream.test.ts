// All nodes have the same event stream: after a disconnect it continues on another node without gaps or duplicates.
// "npm run test:nodes" cuts 500 times.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobcastEvent } from '@jobcast/contract'
import { EventListener } from '@jobcast/testkit/event-listener'
import type { OpenServer } from '@jobcast/testkit/open-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { openNodes } from './open-nodes.ts'

const cuts = testSize('cuts', { test: 9, chaos: 150 })

test(
  `cut ${cuts} times and resumed at another node, a listener misses nothing and hears nothing twice (seed ${testSeed})`,
  longTest,
  async (t) => {
    const { nodes } = await openNodes(t, 3)
    const random = seededRandom(testSeed)
    const devices = ['d1', 'd2', 'd3', 'd4', 'd5']
    const [first] = nodes as [OpenServer]
    await first.putJobAndDevices('restart', devices)

    let isOver = false
    /** At all nodes at once: runs are made and canceled, so that events come from everywhere. */
    const busy = Promise.all(
      nodes.map(async (node) => {
        let runs = 0
        for (; !isOver; runs++) {
          const { headers, status } = await node.trigger('restart', random.some(devices, 1 + random.below(5)))
          assert.equal(status, 201)
          assert.equal(
            (await random.pick(nodes).call('POST', `${headers.get('location')}/cancel`)).status,
            200,
          )
        }
        return runs
      }),
    )
    busy.catch(() => undefined)
    const open = (node: OpenServer, lastId: string) =>
      EventListener.open(
        node.http,
        node.adminKey,
        lastId === '0' ? { query: '?after=0' } : { lastEventId: lastId },
      )

    const heard: JobcastEvent[] = []
    let lastId = '0'
    for (let cut = 0; cut < cuts; cut++) {
      const listener = await open(nodes[cut % nodes.length] as OpenServer, lastId)
      const enough = 1 + random.below(30)
      await listener.until(() => listener.events.length >= enough)
      listener.close()
      await listener.ended
      heard.push(...listener.events)
      lastId = listener.lastId
    }
    isOver = true
    const runs = (await busy).reduce((sum, each) => sum + each, 0)

    const finished = (events: JobcastEvent[]) => events.filter(({ type }) => type === 'run.finished').length
    const wholes = await Promise.all(nodes.map((node) => open(node, '0')))
    await Promise.all(wholes.map((whole) => whole.until(() => finished(whole.events) === runs)))
    const [whole] = wholes as [EventListener]
    const tail = await open(first, lastId)
    await tail.until(() => heard.length + tail.events.length >= whole.events.length)
    for (const listener of [...wholes, tail]) listener.close()
    for (const other of wholes) assert.deepEqual(other.events, whole.events)
    assert.deepEqual([...heard, ...tail.events], whole.events)
    const ids = whole.events.map(({ eventId }) => eventId)
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    )
    t.diagnostic(`${whole.events.length} events of ${runs} runs`)
  },
)
