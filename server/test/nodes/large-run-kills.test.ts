// Kills servers while they create a run on more devices than one write contains: the run is complete or absent, and repeating
// the call results in one run.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Api } from '@jobcast/testkit/call-api'
import { type DeviceCalls, deviceCalls, newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { instantOfFault, RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import { spawnNodes } from './spawn-nodes.ts'

const kills = testSize('kills', { test: 1, chaos: 12 })
const devices = testSize('devices', { test: 11_000, chaos: 50_000 })
/** So many kills more at most, until one has come before the run was there. */
const mostMore = 5

type Place = {
  victims: RestartingServer[]
  /** A part of a run is written, and it is not there yet. */
  isMaking: () => boolean | Promise<boolean>
  /** Whoever is asked after a kill. */
  askSurvivor: (look: (api: Api) => Promise<void>) => Promise<void>
}

async function killWhileMaking(t: TestContext, { victims, isMaking, askSurvivor }: Place): Promise<void> {
  const random = seededRandom(testSeed)
  const first = await (victims[0] as RestartingServer).running()
  const device = await seedDevices(first)
  const begun = performance.now()
  const runIds = [await make(first, 0)]
  const takesMs = performance.now() - begun
  const seen = { unanswered: 0, halfMade: 0 }
  let restart = async () => first
  for (let key = 1; key <= kills || seen.halfMade === 0; key++) {
    assert.ok(key <= kills + mostMore, 'no run was killed while it was made')
    await restart()
    const victim = victims[key % victims.length] as RestartingServer
    const making = make(await victim.running(), key).catch(() => undefined)
    // As soon as a part of it is written, later at any instant.
    if (seen.halfMade > 0) await instantOfFault(random.below(Math.ceil(takesMs * 1.2)))
    else await Promise.race([waitUntil('it is begun', isMaking, { intervalMs: 1 }), making])
    restart = (await victim.kill()).start
    const answered = await making
    if (answered === undefined) seen.unanswered++
    await askSurvivor(async (api) => {
      const runs = await readRuns(api)
      assert.ok(runs.length === key || runs.length === key + 1, `${runs.length} runs after ${key} calls`)
      if (runs.length === key) seen.halfMade++
      if (answered !== undefined) assert.ok(runs.some(({ runId }) => runId === answered))
      for (const run of runs) assertWhole(run)
      const runId = await make(api, key)
      if (answered !== undefined) assert.equal(runId, answered)
      runIds.push(runId)
      assert.equal(new Set(runIds).size, key + 1)
      await assertOneOfEach(api, device, key + 1)
    })
  }
  t.diagnostic(
    `${runIds.length - 1} kills of runs on ${devices} devices: ${seen.unanswered} before the answer, ` +
      `${seen.halfMade} before the run was there`,
  )
}

/** Gives one of them. */
async function seedDevices(api: Api): Promise<DeviceCalls> {
  await api.putJobAndDevices('update', [])
  const rawBody = Array.from({ length: devices }, (_, n) => `{"deviceId":"m${n}"}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  assert.equal((await api.call('POST', '/job/api/devices/import', { rawBody, headers })).status, 200)
  return newDevice(api, 'm7')
}

const rollout = { waves: [{ size: '50%' }, { size: '100%' }] }

async function make(api: Api, key: number): Promise<number> {
  const { status, json, text } = await api.call('POST', '/job/api/runs', {
    // Every second one is released little by little; nothing of it may be offered before it is there.
    body: { jobName: 'update', targets: { where: 'all' }, ...(key % 2 === 1 && { rollout }) },
    headers: { 'idempotency-key': `large-${key}` },
  })
  assert.equal(status, 201, text)
  return json.runId
}

type Listed = { runId: number; total: number; counts: Record<string, number> }

async function readRuns(api: Api): Promise<Listed[]> {
  const { status, json, text } = await api.call('GET', '/job/api/runs?limit=100')
  assert.equal(status, 200, text)
  return json.items
}

function assertWhole({ total, counts }: Listed): void {
  assert.equal(total, devices)
  assert.equal(
    Object.values(counts).reduce((sum, count) => sum + count),
    devices,
  )
}

/** The device has one execution of each run, and none of what was left half made. */
async function assertOneOfEach(api: Api, { deviceId, token }: DeviceCalls, runs: number): Promise<void> {
  const { json } = await api.call('GET', `/job/api/executions?deviceId=${deviceId}&limit=100`)
  assert.equal(json.items.length, runs)
  const pending = await deviceCalls(api.http, deviceId, token).call('GET', '')
  const ids = pending.json.queuedJobs.map(({ jobId }: { jobId: string }) => Number(jobId))
  assert.equal(new Set(ids).size, ids.length)
}

test('embedded: a large run that is killed while it is made is whole or not there', longTest, async (t) => {
  const dataFolder = temporaryFolder(t)
  const server = new RestartingServer(dataFolder)
  t.after(() => server.end())
  await server.running()
  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'), { readOnly: true })
  t.after(() => db.close())
  const draft = db.prepare('SELECT 1 FROM run_draft')
  await killWhileMaking(t, {
    victims: [server],
    isMaking: () => draft.get() !== undefined,
    async askSurvivor(look) {
      const again = await openServer(t, { dataFolder })
      await look(again)
      await again.server.stop()
    },
  })
})

test(
  'three nodes: a large run that is killed while it is made is whole or not there',
  longTest,
  async (t) => {
    const victims = Math.min(kills, 2)
    const { nodes, beside, databaseUrl } = await spawnNodes(t, victims, { beside: 3 - victims })
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    t.after(() => client.end())
    const inserts = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND xact_start IS NOT NULL AND query LIKE '%INSERT INTO execution (%' AND pid <> pg_backend_pid()`
    await killWhileMaking(t, {
      victims: nodes,
      isMaking: async () => (await client.query(inserts)).rows.length > 0,
      askSurvivor: (look) => look(beside[0] as Api),
    })
  },
)
