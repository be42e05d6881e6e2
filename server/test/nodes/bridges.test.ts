// A bridge where there are several nodes: one of them carries it, and another takes over when that is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bridge } from '@jobcast/contract'
import type { Api } from '@jobcast/testkit/call-api'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { execute } from '@jobcast/testkit/postgres-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { BrokerDevice, bridgeTo, whenConnected } from '../gateway/bridge/bridge-under-test.ts'
import { openBeside, spawnNodes } from './spawn-nodes.ts'

test('another node takes over a bridge, with the reports that came meanwhile', {
  skip: withoutMosquitto,
}, async (t) => {
  const broker = await openMosquitto(t)
  const flags = ['--bridge', broker.url, '--bridge-client-id', 'jobcast-test']
  const { databaseUrl, nodes } = await spawnNodes(t, 1, { flags })
  const [carrier] = nodes
  assert.ok(carrier)
  const first = await carrier.running()
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
  // Triggered where it is not carried.
  const { json } = await other.trigger('hello', ['d1'])
  const [{ jobExecutionId }] = [json].flat()
  await device.next(
    (topic, body) => topic === 'jobs/notify-next' && body.execution?.jobId === String(jobExecutionId),
  )
  await device.request('jobs/start-next')

  await carrier.kill()
  const killedAt = performance.now()
  await device.publish(`jobs/${jobExecutionId}/update`, '{"status":"SUCCEEDED","expectedVersion":2}')
  const { topic } = await device.next((each) => each.startsWith(`jobs/${jobExecutionId}/update/`))
  const tookMs = performance.now() - killedAt
  assert.match(topic, /accepted$/)
  t.diagnostic(`taken over after ${Math.round(tookMs)} ms`)
  // 10 s on a machine that does nothing else; three times that beside other tests.
  if (isChaos) assert.ok(tookMs < 30_000, `${tookMs} ms`)
  await whenConnected(other)
  const { state, nodeNo } = await seen(other)
  assert.equal(state, 'connected')
  assert.notEqual(nodeNo, here.nodeNo)
  const history = await other.call('GET', `/job/api/executions/${jobExecutionId}/history`)
  assert.equal(history.json.items.filter(({ to }: { to: string }) => to === 'SUCCEEDED').length, 1)
})
