// The progress of the current gate and of stop rules in the response of a run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { newJob, launch, runOf, waitFor, act, report } = await openRolledRuns(api, 'p', 5)

/** size, needed, succeeded, possible */
async function gateOf(path: string): Promise<number[] | null> {
  const gate = (await runOf(path)).rollout?.gate ?? null
  return gate && [gate.size, gate.needed, gate.succeeded, gate.possible]
}
const stopRulesOf = async (path: string) =>
  (await runOf(path)).rollout?.stopRules.map(({ count, ended }) => [count, ended])

test('a run shows how many devices its gate waits for, when it opens, and what its stop rules have counted', async () => {
  const jobName = await newJob({
    rollout: {
      waves: [{ size: 3 }, { size: '100%' }],
      next: { succeededPercent: 60, soakSeconds: 3600 },
      stop: [
        { on: ['FAILED'], percent: 50, minEnded: 10 },
        { on: ['FAILED', 'REJECTED'], count: 5, of: 'WAVE' },
      ],
    },
  })
  const run = await launch(jobName)
  const before = await waitFor(run.path, 3)
  assert.deepEqual(before.stopRules, [
    { count: 0, ended: 0 },
    { count: 0, ended: 0 },
  ])
  assert.deepEqual(await gateOf(run.path), [3, 2, 0, 3])
  await report(run, 0, 'SUCCEEDED')
  await report(run, 1, 'FAILED')
  assert.deepEqual(await gateOf(run.path), [3, 2, 1, 2])
  assert.deepEqual(await stopRulesOf(run.path), [
    [1, 2],
    [1, 2],
  ])
  assert.equal((await runOf(run.path)).rollout?.gate?.opensAt, null, 'it does not soak yet')

  await report(run, 2, 'SUCCEEDED')
  const ended = Date.now()
  await waitUntil('it soaks', async () => ((await runOf(run.path)).rollout?.gate?.opensAt ?? null) !== null)
  const opensAt = Date.parse((await runOf(run.path)).rollout?.gate?.opensAt ?? '')
  assert.ok(Math.abs(opensAt - ended - 3_600_000) < 120_000, `${opensAt - ended} ms`)

  // That of a list would read the devices of each run.
  const { items } = (await api.call('GET', `/job/api/runs?jobName=${jobName}`)).json
  assert.equal(items[0].rollout.gate, null)
  assert.equal(items[0].rollout.stopRules.length, 2)

  await act(run.path, 'pause')
  const paused = (await runOf(run.path)).rollout
  assert.deepEqual([paused?.gate?.succeeded, paused?.gate?.opensAt], [2, null])
  await act(run.path, 'resume')
  assert.deepEqual(await stopRulesOf(run.path), [
    [0, 0],
    [0, 0],
  ])
  await act(run.path, 'advance')
  assert.equal(await gateOf(run.path), null, 'the last wave has none')
  await act(run.path, 'cancel')
})

test('the gate does not wait for devices whose failures were accepted', async () => {
  const run = await launch(await newJob({ rollout: { waves: [{ size: 3 }, { size: '100%' }] } }))
  await waitFor(run.path, 3)
  await report(run, 0, 'SUCCEEDED')
  await report(run, 1, 'REJECTED')
  await waitFor(run.path, 3, 'PAUSED')
  assert.deepEqual(await gateOf(run.path), [3, 3, 1, 2])
  await act(run.path, 'resume')
  assert.deepEqual(await gateOf(run.path), [2, 2, 1, 2])
  await act(run.path, 'cancel')
})
