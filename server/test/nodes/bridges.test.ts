// A bridge with several nodes: one of them runs it, and another takes over when that node is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bridge } from '@jobcast/contract'
import type { Api } from '@jobcast/testkit/call-api'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { execute } from '@jobcast/testkit/postgres-server'
import type { RestartingServer } from '@jobcast/testkit/restarting-server'
import { isChaos, longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BrokerDevice, bridgeTo, whenConnected } from '../gateway/bridge/bridge-under-test.ts'
import { openBeside, spawnNodes } from './spawn-nodes.ts'

/** A takeover takes at most 10 s on a machine that does nothing else; three times that beside other tests. */
const takeoverMs = 30_000

test('another node takes over a bridge, with the reports that came meanwhile', {
  skip: withoutMosquitto,
}, async (t) => {
  const broker = await openMosquitto(t)
  const flags = ['--bridge', broker.url, '--bridge-client-id', 'jobcast-test']
  const { databaseUrl, nodes } = await spawnNodes(t, 1, { flags })
  const [runner] = nodes
  assert.ok(runner)
  const first = await runner.running()
  await whenConnected(first)
  const other = await openBeside(t, databaseUrl, first.adminKey, { bridges: [bridgeTo(broker.url)] })
  const held = await execute(
    databaseUrl,
    `SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory' AND classid = 740011
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  assert.equal(held[0]?.held, 1)
  await whenConnected(other, false)
  const seen = async ({ call }: Pick<Api, 'call'>): Promise<Bridge> =>
    (await call('GET', '/job/api/bridges')).json.items[0]
  await waitUntil('the other node knows of it', async () => (await seen(other)).state === 'connected')
  const here = await seen(first)
  const there = await seen(other)
  assert.ok(here.nodeNo !== null && here.nodeNo === there.nodeNo, JSON.stringify([here, there]))
  assert.deepEqual([there.since, there.lastError], [here.since, null])

  await first.putJobAndDevices('hello', ['d1'])
  const device = await BrokerDevice.open(t, broker.url, 'd1')
  // Triggered on a node that does not run the bridge.
  const { json } = await other.trigger('hello', ['d1'])
  const [{ jobExecutionId }] = [json].flat()
  await device.next(
    (topic, body) => topic === 'jobs/notify-next' && body.execution?.jobId === String(jobExecutionId),
  )
  await device.request('jobs/start-next')

  await runner.kill()
  const killedAt = performance.now()
  await device.publish(`jobs/${jobExecutionId}/update`, '{"status":"SUCCEEDED","expectedVersion":2}')
  const { topic } = await device.next((each) => each.startsWith(`jobs/${jobExecutionId}/update/`))
  const tookMs = performance.now() - killedAt
  assert.match(topic, /accepted$/)
  t.diagnostic(`taken over after ${Math.round(tookMs)} ms`)
  if (isChaos) assert.ok(tookMs < takeoverMs, `${tookMs} ms`)
  await whenConnected(other)
  const { state, nodeNo } = await seen(other)
  assert.equal(state, 'connected')
  assert.notEqual(nodeNo, here.nodeNo)
  assert.equal(await countEnds(other, jobExecutionId), 1)
})

const rounds = testSize('rounds', { test: 0, chaos: 3 })

if (rounds > 0)
  test(`the node that runs a bridge is killed ${rounds} times, and nothing is applied twice`, {
    skip: withoutMosquitto,
    ...longTest,
  }, async (t) => {
    const broker = await openMosquitto(t)
    const { nodes } = await spawnNodes(t, 2, { flags: ['--bridge', broker.url] })
    const [first] = nodes
    assert.ok(first)
    await (await first.running()).putJobAndDevices('hello', ['d1'])
    const device = await BrokerDevice.open(t, broker.url, 'd1')
    const took: number[] = []
    for (let round = 0; round < rounds; round++) {
      const runner = await runnerOf(nodes)
      const { json } = await (await first.running()).trigger('hello', ['d1'])
      const [{ jobExecutionId }] = [json].flat()
      const isItsNotice = (topic: string, body: { execution?: { jobId: string } }) =>
        topic === 'jobs/notify-next' && body.execution?.jobId === String(jobExecutionId)
      await device.next(isItsNotice)
      await device.request('jobs/start-next')
      const { start } = await runner.kill()
      const killedAt = performance.now()
      await device.publish(`jobs/${jobExecutionId}/update`, '{"status":"SUCCEEDED","expectedVersion":2}')
      const { topic } = await device.next((each) => each.startsWith(`jobs/${jobExecutionId}/update/`))
      took.push(performance.now() - killedAt)
      assert.match(topic, /accepted$/)
      await start()
      assert.equal(await countEnds(await first.running(), jobExecutionId), 1)
    }
    const longestMs = Math.max(...took)
    t.diagnostic(`the longest takeover took ${Math.round(longestMs)} ms`)
    assert.ok(longestMs < takeoverMs, `${longestMs} ms`)
  })

/** How often the execution has succeeded. */
async function countEnds({ call }: Pick<Api, 'call'>, jobExecutionId: number): Promise<number> {
  const { json } = await call('GET', `/job/api/executions/${jobExecutionId}/history`)
  return json.items.filter(({ to }: { to: string }) => to === 'SUCCEEDED').length
}

/** The node whose bridge is connected. */
async function runnerOf(nodes: RestartingServer[]): Promise<RestartingServer> {
  let found: RestartingServer | undefined
  await waitUntil('one of the nodes runs the bridge', async () => {
    for (const node of nodes) {
      const { text } = await (await node.running()).call('GET', '/metrics')
      if (text.includes('jobcast_bridge_connected{bridge="b1"} 1')) found = node
    }
    return found !== undefined
  })
  return found as RestartingServer
}
