// Approvals: their number, principals and scope, and how a run, its history and explain show them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { ids, newJob, launch, runOf, waitFor, act, report } = await openRolledRuns(api, 'ap', 3)
const keyOf = async (keyName: string) => (await api.newKey(['APPROVE', 'READ', 'MANAGE'], { keyName })).apiKey
const [anna, ben, carl] = [await keyOf('anna'), await keyOf('ben'), await keyOf('carl')]
const approvalOf = async (path: string) => (await api.call('GET', path)).json.rollout.approval
const explain = async (jobExecutionId: number | undefined): Promise<string> =>
  (await api.call('GET', `/job/api/executions/${jobExecutionId}/explain`)).json.text

test('a run begins with the last approval that it needs, each by somebody else', async () => {
  const { path, executionIds } = await launch(await newJob({ approval: { required: 2 } }))
  const { digest, ...asked } = await approvalOf(path)
  assert.deepEqual([asked, digest.length], [{ required: 2, given: 0, blockedBecause: 'INVOLVED' }, 43])
  const blockOf = async (key: string) =>
    (await api.call('GET', path, { key })).json.rollout.approval.blockedBecause
  const reader = (await api.newKey(['READ'])).apiKey
  assert.deepEqual([await blockOf(anna), await blockOf(ben), await blockOf(reader)], [null, null, 'SCOPE'])
  const first = await act(path, 'approve', { comment: 'read it', digest }, anna)
  assert.deepEqual([first.status, first.json.rollout.state], [200, 'AWAITING_APPROVAL'])
  assert.equal(first.json.rollout.approval.given, 1)
  assert.deepEqual([await blockOf(anna), await blockOf(ben)], ['DECIDED', null])
  for (const verb of ['approve', 'deny']) {
    const second = await act(path, verb, {}, anna)
    assertRefused(second, 'J-303')
    assert.match(second.text, /409/)
  }
  assert.match(
    await explain(executionIds[0]),
    /waits for approval by somebody who has not created, changed or fired it\. It has that of key anna\.$/,
  )
  const done = await act(path, 'approve', {}, ben)
  assert.deepEqual([done.json.rollout.state, done.json.rollout.approval], ['RELEASED', null])
  const decided: Record<string, unknown>[] = done.json.approvals
  assert.deepEqual(
    decided.map(({ name, decision, comment }) => [name, decision, comment]),
    [
      ['anna', 'APPROVED', 'read it'],
      ['ben', 'APPROVED', null],
    ],
  )
  for (const { principal, at } of decided) assert.match(`${principal} ${at}`, /^key:\w+ \d{4}-.*Z$/)
  await act(path, 'cancel')
})

test('a change makes approvals void: of what is pending, and of what was approved', async () => {
  const rollout = { order: 'GIVEN', waves: [{ size: 1 }, { size: 1 }, { size: '100%' }] }
  const { path, executionIds } = await launch(await newJob({ approval: { required: 2 }, rollout }))
  const change = (body: object) => api.call('PATCH', path, { body: { rollout: body } })
  const seen = (await approvalOf(path)).digest
  await act(path, 'approve', {}, anna)
  assert.equal((await change({ ratePerMinute: 60_000 })).status, 200)
  const own = (await api.call('GET', path, { key: anna })).json.rollout.approval
  assert.equal(own.blockedBecause, null, 'her approval is void')
  const { given, digest } = await approvalOf(path)
  assert.deepEqual([given, digest === seen], [0, false])
  assertRefused(await act(path, 'approve', { digest: seen }, anna), 'J-303')
  assert.equal((await act(path, 'approve', { digest }, anna)).status, 200)
  assert.equal((await act(path, 'approve', { digest }, ben)).json.rollout.state, 'ROLLING_OUT')
  await waitFor(path, 1)
  // The same once more changes nothing.
  assert.equal((await change({ ratePerMinute: 60_000 })).json.rollout.state, 'ROLLING_OUT')
  await act(path, 'pause')
  const paused = await change({ stop: [{ on: ['FAILED'], count: 1 }] })
  assert.equal(paused.json.rollout.state, 'AWAITING_APPROVAL')
  assert.match(
    await explain(executionIds[2]),
    /2 approvals .*, because it was changed after it had been approved\.$/,
  )
  assertRefused(await act(path, 'resume'), 'J-303')
  await act(path, 'approve', {}, anna)
  // Approved is what it is; whoever had paused it resumes it.
  const back = await act(path, 'approve', {}, carl)
  assert.deepEqual([back.json.rollout.state, back.json.rollout.pausedByName], ['PAUSED', 'admin'])
  assert.equal((await act(path, 'resume')).json.rollout.state, 'ROLLING_OUT')
  await act(path, 'cancel')
})

test('a window is part of what is approved', async () => {
  const put = (durationMinutes: number) =>
    api.call('PUT', '/job/api/windows/open', { body: { cron: '0 0 * * *', durationMinutes } })
  await put(1440)
  const rollout = { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] }
  const run = await launch(await newJob({ approval: true, rollout, window: 'open' }))
  await act(run.path, 'approve', {}, anna)
  await waitFor(run.path, 1)
  await put(1439)
  await report(run, 0, 'SUCCEEDED')
  await waitFor(run.path, 1, 'AWAITING_APPROVAL')
  await act(run.path, 'approve', {}, anna)
  await waitFor(run.path, 3, 'RELEASED')
  await act(run.path, 'cancel')
})

test('the run, its history and explain name who denied, paused and canceled it', async () => {
  const { path, executionIds } = await launch(await newJob({ approval: true }))
  const denied = await act(path, 'deny', { comment: 'not today' }, ben)
  assert.equal(denied.json.rollout.pausedByName, 'ben')
  const { name, decision, comment } = denied.json.approvals[0]
  assert.deepEqual([name, decision, comment], ['ben', 'DENIED', 'not today'])
  await waitUntil('it is canceled', async () => (await runOf(path)).counts.CANCELED === ids.length)
  assert.match(await explain(executionIds[0]), /its run was stopped by key ben before/)
  const history = (await api.call('GET', `/job/api/executions/${executionIds[0]}/history`)).json.items
  assert.equal(history.at(-1).actorName, 'ben')

  const other = await launch(
    await newJob({ rollout: { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] } }),
  )
  await waitFor(other.path, 1)
  await act(other.path, 'pause', undefined, carl)
  assert.match(await explain(other.executionIds[1]), /was paused by key carl/)
  await act(other.path, 'cancel', undefined, carl)
  assert.match(await explain(other.executionIds[0]), /CANCELED by key carl at/)
})
