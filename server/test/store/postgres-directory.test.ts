// Nodes cache names. After changes by another node, a trigger uses the names at the time of its write.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { execute } from '@jobcast/testkit/postgres-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { Trigger, TriggerOutcome } from '../../src/domain/trigger/trigger.ts'
import { Directory } from '../../src/store/postgres/directory.ts'
import { locks } from '../../src/store/postgres/locks.ts'
import { openNodes } from './postgres-under-test.ts'
import {
  answered,
  createOne,
  devicePut,
  emptyContent,
  keyTimes,
  momentAt,
  runOf,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

test(`names change on any node between triggers on any node, and each goes by the last change (seed ${testSeed})`, async (t) => {
  const { nodes } = await openNodes(t)
  const random = seededRandom(testSeed)
  const deviceIds = ['d1', 'd2', 'd3']
  const jobNames = ['restart', 'update']
  const { ownerNo, trigger } = await seedOwner(nodes[0], { devices: deviceIds, jobs: jobNames })
  /** What there is: the names of the devices, and what the jobs say. */
  const devices = new Map(deviceIds.map((deviceId) => [deviceId, devicePut(ownerNo, deviceId).deviceName]))
  const jobs = new Map<string, unknown>(jobNames.map((jobName) => [jobName, {}]))

  const change = async (node: Store, round: number) => {
    const deviceId = random.pick(deviceIds)
    const jobName = random.pick(jobNames)
    const name = `name ${round}`
    const steps: (() => Promise<unknown>)[] = [
      () => {
        devices.set(deviceId, name)
        return node.putDevices([devicePut(ownerNo, deviceId, name)])
      },
      () => {
        devices.delete(deviceId)
        return node.deleteDevice({ ownerNo, deviceId, moment: momentAt(startedAt), actor: 'key k1' })
      },
      () => {
        jobs.set(jobName, { round })
        return node.putJob({
          ownerNo,
          jobName,
          content: { ...emptyContent, document: { round } },
          at: startedAt,
        })
      },
      () => {
        jobs.delete(jobName)
        return node.deleteJob({ ownerNo, jobName, at: startedAt })
      },
    ]
    await random.pick(steps)()
  }
  const check = async (node: Store) => {
    const jobName = random.pick(jobNames)
    const wanted = deviceIds.filter(() => random.below(2) === 0)
    if (wanted.length === 0) return
    const [outcome] = await node.createExecutions([trigger(wanted, { jobName })])
    const unknown = wanted.filter((deviceId) => !devices.has(deviceId))
    if (!jobs.has(jobName)) return assert.deepEqual(outcome, { kind: 'unknown-job' })
    if (unknown.length > 0) return assert.deepEqual(outcome, { kind: 'unknown-device', deviceIds: unknown })
    const run = runOf(outcome)
    assert.equal(outcome?.kind, 'created')
    assert.deepEqual(
      run.devices.map(({ deviceId, deviceName }) => [deviceId, deviceName]),
      wanted.map((deviceId) => [deviceId, devices.get(deviceId)]),
    )
    assert.deepEqual(JSON.parse((await node.getDocument(run)).document), jobs.get(jobName))
  }
  for (let round = 0; round < 300; round++) {
    if (random.below(3) === 0) await change(random.pick(nodes), round)
    else await check(random.pick(nodes))
  }
})

const many = Array.from({ length: 1200 }, (_, index) => `d${index}`)
const keyed = {
  idempotency: { key: 'once', requestHash: hash('sha256', 'once', 'buffer'), ...keyTimes(startedAt) },
}
const groups: [string, (trigger: (deviceIds: string[], more?: Partial<Trigger>) => Trigger) => Trigger[]][] =
  [
    ['a trigger of one device', (trigger) => [trigger(['d7'])]],
    ['a small group', (trigger) => [trigger(['d7']), trigger(['d7', 'd8'])]],
    ['a large group', (trigger) => [trigger(['d7']), trigger(many)]],
    ['a call with a key', (trigger) => [trigger(['d7'], keyed), trigger(['d8', 'd7'])]],
  ]
const RENAME = "UPDATE device SET device_name = 'new' WHERE device_id = 'd7'"
const DELETE = "UPDATE device SET deleted_at = 1 WHERE device_id = 'd7'"
const RECREATE = "UPDATE device SET deleted_at = NULL, device_name = 'again' WHERE device_id = 'd7'"
const VERSION = `
  WITH made AS (
    INSERT INTO job_version (job_no, version, created_at, content)
    SELECT job_no, 2, 0, '{"document":{"v":2}}' FROM job RETURNING *)
  UPDATE job SET version_no = made.version_no FROM made WHERE job.job_no = made.job_no`
const nameOf = (outcome: TriggerOutcome) =>
  [...runOf(outcome).devices].find(({ deviceId }) => deviceId === 'd7')?.deviceName
const changes: [string, string[], (outcome: TriggerOutcome, before: number) => void][] = [
  ['renamed', [RENAME], (outcome) => assert.equal(nameOf(outcome), 'new')],
  ['deleted', [DELETE], (outcome) => assert.equal(outcome.kind, 'unknown-device')],
  ['deleted and created again', [DELETE, RECREATE], (outcome) => assert.equal(nameOf(outcome), 'again')],
  [
    'given to another version of the job',
    [VERSION],
    (outcome, before) => assert.notEqual(runOf(outcome).jobVersion, before),
  ],
  [
    'named with a job that is deleted',
    ['UPDATE job SET deleted_at = 1'],
    (outcome) => assert.deepEqual(outcome, { kind: 'unknown-job' }),
  ],
]

for (const [which, group] of groups) {
  for (const [what, statements, assertOutcome] of changes) {
    test(`a device is ${what} after ${which} has looked it up, and before it is written`, async (t) => {
      const { url, nodes } = await openNodes(t)
      const [node] = nodes
      const { ownerNo, trigger } = await seedOwner(node, { devices: many })
      const { jobVersion } = await createOne(node, trigger(many))
      const other = new pg.Client(url)
      await other.connect()
      t.after(() => other.end())
      await other.query('BEGIN')
      await other.query(`SELECT pg_advisory_xact_lock(${locks.catalogueOfOwner}, ${ownerNo})`)
      const written = node.createExecutions(group(trigger))
      await waitUntil('it waits for the lock', async () => {
        const waiting =
          'SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()'
        return (await execute(url, waiting)).length > 0
      })
      for (const sql of statements) await other.query(sql)
      await other.query('COMMIT')
      for (const outcome of await written) assertOutcome(outcome, jobVersion)
      // What it has read meanwhile is remembered, and right.
      for (const outcome of await node.createExecutions([trigger(['d7'])])) assertOutcome(outcome, jobVersion)
    })
  }
}

test('a name that is new, or put as it was, makes nobody read the others again', async (t) => {
  const { url, nodes } = await openNodes(t)
  const { ownerNo, trigger } = await seedOwner(nodes[0])
  const state = async () => (await execute(url, `SELECT catalogue_state(${ownerNo})`))[0]?.catalogue_state
  const before = await state()
  await nodes[0].putDevices([devicePut(ownerNo, 'd1'), devicePut(ownerNo, 'd9')])
  await nodes[1].putJob({ ownerNo, jobName: 'restart', content: emptyContent, at: startedAt })
  assert.equal(await state(), before)
  // However many one transaction changes, the row is written once.
  await nodes[0].putDevices(['d1', 'd2', 'd3'].map((deviceId) => devicePut(ownerNo, deviceId, 'other')))
  assert.notEqual(await state(), before)
  const { devices } = await createOne(nodes[1], trigger(['d2', 'd9']))
  assert.deepEqual(
    devices.map(({ deviceName }) => deviceName),
    ['other', devicePut(ownerNo, 'd9').deviceName],
  )
})

test('no id is given twice, however many take some at once', async (t) => {
  const { nodes } = await openNodes(t)
  const { trigger } = await seedOwner(nodes[0], { devices: many })
  await createOne(nodes[0], trigger(many))
  const calls = Array.from({ length: 40 }, (_, index) => {
    const deviceIds = index % 8 === 0 ? many : many.slice(index, index + (index % 5) + 1)
    return createOne(nodes[index % 2] as Store, trigger(deviceIds))
  })
  const runs = (await Promise.all(calls)).sort((one, two) => one.firstExecutionId - two.firstExecutionId)
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1]
    if (before) assert.ok(run.firstExecutionId >= before.firstExecutionId + before.devices.length)
    assert.deepEqual(answered(run).runId, run.runId)
  }
  assert.equal(new Set(runs.map(({ runId }) => runId)).size, runs.length)
})

test('a directory keeps to its bound and forgets what was read in another state', () => {
  const directory = new Directory(10)
  const names = (state: string, deviceIds: string[]) => ({
    state,
    jobs: new Map([['j', { jobNo: 1, versionNo: 1, expireAfterSeconds: null, deadlineSeconds: null }]]),
    devices: new Map(
      deviceIds.map((deviceId) => [deviceId, { deviceNo: 1, deviceId, deviceName: '', namedBy: 0 }]),
    ),
  })
  const lookUpCached = (...deviceIds: string[]) =>
    directory.lookUpCached([{ ownerNo: 1, jobName: 'j', deviceIds } as unknown as Trigger])
  directory.remember(new Map([[1, names('a', ['d1'])]]))
  directory.remember(new Map([[1, names('a', ['d2'])]]))
  assert.equal(lookUpCached('d1', 'd2')?.names.get(1)?.state, 'a')
  assert.equal(lookUpCached('d1', 'd3'), undefined)
  directory.remember(new Map([[1, names('b', ['d2'])]]))
  assert.equal(lookUpCached('d1'), undefined)
  assert.equal(lookUpCached('d2')?.names.get(1)?.state, 'b')
  directory.remember(new Map([[2, names('c', ['1', '2', '3', '4', '5', '6', '7'])]]))
  assert.equal(lookUpCached('d2'), undefined)
})
