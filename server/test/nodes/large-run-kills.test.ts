// Servers are killed while they make a run on more devices than one write holds: it is there as a whole or not at all,
// and whoever sends the call again gets one run.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { spawnNodes } from './spawn-nodes.ts'

const kills = testSize('kills', { test: 2, chaos: 30 })
const devices = testSize('devices', { test: 11_000, chaos: 50_000 })

async function killWhileMaking(t: TestContext, servers: RestartingServer[]): Promise<void> {
  const random = seededRandom(testSeed)
  const serverOf = (index: number) => servers[index % servers.length] as RestartingServer
  const api = await serverOf(0).running()
  await api.putJobAndDevices('update', [])
  const rawBody = Array.from({ length: devices }, (_, n) => `{"deviceId":"m${n}"}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  assert.equal((await api.call('POST', '/job/api/devices/import', { rawBody, headers })).status, 200)
  const { deviceId, token } = await newDevice(api, 'm7')
  const rollout = { waves: [{ size: '50%' }, { size: '100%' }] }
  const make = (at: Api, key: number) =>
    at.call('POST', '/job/api/runs', {
      // Every second one is released little by little; nothing of it may be offered before it is there.
      body: { jobName: 'update', targets: { where: 'all' }, ...(key % 2 === 1 && { rollout }) },
      headers: { 'idempotency-key': `large-${key}` },
    })
  const begun = performance.now()
  assert.equal((await make(api, 0)).status, 201)
  const takesMs = performance.now() - begun

  const runIds = new Set<number>()
  const told = { before: 0, after: 0 }
  for (let key = 1; key <= kills; key++) {
    const server = await serverOf(key).running()
    const making = make(server, key).then(
      ({ status, json }) => (status === 201 ? (json.runId as number) : undefined),
      () => undefined,
    )
    const { start } = await serverOf(key).killAfter(random.below(Math.ceil(takesMs * 1.2)))
    const answered = await making
    const again = await start()
    const runs = await readRuns(again)
    assert.ok(runs.length === key || runs.length === key + 1, `${runs.length} runs after ${key} calls`)
    if (answered === undefined) told.before++
    else told.after++
    if (answered !== undefined) assert.ok(runs.some(({ runId }) => runId === answered))
    for (const { total, counts } of runs) {
      assert.equal(total, devices)
      assert.equal(
        Object.values(counts).reduce((sum, count) => sum + count),
        devices,
      )
    }
    const { status, json } = await make(again, key)
    assert.equal(status, 201, JSON.stringify(json))
    if (answered !== undefined) assert.equal(json.runId, answered)
    runIds.add(json.runId)
  }
  assert.equal(runIds.size, kills)
  const last = await serverOf(0).running()
  const { json: listed } = await last.call('GET', `/job/api/executions?deviceId=${deviceId}&limit=100`)
  assert.equal(
    listed.items.length,
    kills + 1,
    'one execution of each run, and none of what was left half made',
  )
  const pending = await deviceCalls(last.http, deviceId, token).call('GET', '')
  const ids = pending.json.queuedJobs.map(({ jobId }: { jobId: string }) => Number(jobId))
  assert.equal(new Set(ids).size, ids.length)
  t.diagnostic(
    `${kills} kills of runs on ${devices} devices: ${told.before} before the answer, ${told.after} after`,
  )
}

type Listed = { runId: number; total: number; counts: Record<string, number> }

async function readRuns(api: Api): Promise<Listed[]> {
  const { status, json, text } = await api.call('GET', '/job/api/runs?limit=100')
  assert.equal(status, 200, text)
  return json.items
}

test('embedded: a large run that is killed while it is made is whole or not there', longTest, async (t) => {
  const server = new RestartingServer(temporaryFolder(t))
  t.after(() => server.end())
  await killWhileMaking(t, [server])
})

test(
  'three nodes: a large run that is killed while it is made is whole or not there',
  longTest,
  async (t) => {
    const { nodes } = await spawnNodes(t, 3)
    await killWhileMaking(t, nodes)
  },
)
