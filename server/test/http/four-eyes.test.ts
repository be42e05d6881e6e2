// The four-eyes rule: every principal involved in a run, with every call that could bypass an approval.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Reply, replyOf } from '@jobcast/testkit/call-api'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import {
  decisions,
  gate,
  patch,
  post,
  type Refused,
  type Send,
  tryAllBy,
  weakened,
  whileWaiting,
} from './four-eyes-calls.ts'
import { openRolledRuns } from './rolled-runs.ts'

const api = await openSharedServer()
const { ids, devices, runOf, waitFor } = await openRolledRuns(api, 'eye', 4)

const all = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE'] as const
const byKey =
  (key: string): Send =>
  (method, path, body) =>
    api.call(method, `/job/api/${path}`, { key, ...(body && { body }) })

/** A key of its own principal, or one that another key has created. */
async function newKey(keyName: string, parent = api.adminKey): Promise<string> {
  const reply = await api.call('POST', '/job/api/keys', { key: parent, body: { keyName, scopes: [...all] } })
  assert.equal(reply.status, 201, reply.text)
  return reply.json.apiKey
}

async function signIn(apiKey: string): Promise<Send> {
  const send = (cookie: Record<string, string>, method: string, path: string, body?: object) =>
    fetch(`${api.http}/job/api/${path}`, {
      method,
      headers: { origin: api.http, ...cookie, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const signedIn = await send({}, 'POST', 'session', { apiKey })
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split('; ') ?? []
  return async (method, path, body) => replyOf(await send({ cookie }, method, path, body))
}

const grandparent = await newKey('grandparent')
const parent = await newKey('parent', grandparent)
const maker = await newKey('maker', parent)
const changer = await newKey('changer')
const firer = await newKey('firer')
const other = byKey(await newKey('other'))

/** Keys created in a session belong to the principal of the session. */
async function keyOfSession(session: Send): Promise<Send> {
  const created = await session('POST', 'keys', { keyName: 'of a session', scopes: [...all] })
  assert.equal(created.status, 201, created.text)
  return byKey(created.json.apiKey)
}

const hands = {
  maker: byKey(maker),
  changer: byKey(changer),
  firer: byKey(firer),
  'the key that made the key of the maker': byKey(parent),
  'the key that made that one': byKey(grandparent),
  'a key that the maker has made': byKey(await newKey('child', maker)),
  'another key of the same parent': byKey(await newKey('sibling', parent)),
  'a session of the maker': await signIn(maker),
  'another session of the maker': await signIn(maker),
  'a session of the changer': await signIn(changer),
  'a key made in a session of the maker': await keyOfSession(await signIn(maker)),
  'a key that the changer has made': byKey(await newKey('child', changer)),
  'a key that the firer has made': byKey(await newKey('child', firer)),
}

let scenes = 0

/** A schedule of the maker, fired by another key, whose run a third one has changed. */
async function launch(more: object): Promise<{ runId: number; path: string; jobName: string }> {
  const name = `scene-${++scenes}`
  await hands.maker('PUT', `jobs/${name}`, {})
  const content = {
    jobName: name,
    targets: { deviceIds: ids },
    when: { at: '2099-01-01T00:00:00Z' },
    ...more,
  }
  const put = await hands.maker('PUT', `schedules/${name}`, content)
  assert.equal(put.status, 201, put.text)
  const fired = await hands.firer('POST', `schedules/${name}/fire`)
  assert.equal(fired.status, 201, fired.text)
  const { runId } = fired.json
  const changed = await hands.changer('PATCH', `runs/${runId}`, { rollout: { ratePerMinute: 60_000 } })
  assert.equal(changed.status, 200, changed.text)
  return { runId, path: `/job/api/runs/${runId}`, jobName: name }
}

const tryAll = (calls: Refused[], runId: number) => tryAllBy(hands, calls, runId)

test('before its first approval nobody involved in a run can let it begin', async () => {
  const waves = [{ size: 1 }, { size: '100%' }]
  const { runId, path } = await launch({ approval: true, rollout: { waves, next: { action: 'APPROVAL' } } })
  await tryAll([...whileWaiting, ['retry', post('retry'), 'J-305']], runId)
  // An approval after the change applies to the changed run.
  assert.equal((await patch({ next: { action: 'CONTINUE' } })(hands.maker, runId)).status, 200)
  await tryAll(whileWaiting, runId)
  for (const [name, hand] of Object.entries(hands)) {
    const { approval } = (await hand('GET', `runs/${runId}`)).json.rollout
    assert.equal(approval.blockedBecause, 'INVOLVED', name)
  }
  assert.equal((await other('GET', `runs/${runId}`)).json.rollout.approval.blockedBecause, null)
  const { rollout } = await runOf(path)
  assert.deepEqual([rollout?.state, rollout?.released], ['AWAITING_APPROVAL', 0])
  const approved = await post('approve')(other, runId)
  assert.deepEqual([approved.status, approved.json.rollout.state], [200, 'ROLLING_OUT'])
  await waitFor(path, 1)
  // An approved run waits again after a change by any principal.
  const again = await patch({ ratePerMinute: 30_000 })(hands.changer, runId)
  assert.equal(again.json.rollout.state, 'AWAITING_APPROVAL')
  await tryAll(whileWaiting, runId)
  await api.call('POST', `${path}/cancel`)
})

test('nobody involved in a run can pass a gate with approval, before it opens or at it', async () => {
  const { runId, path } = await launch({ rollout: gate })
  await waitFor(path, 1)
  await tryAll([...weakened, ['approve', post('approve'), 'J-810']], runId)
  assert.equal((await runOf(path)).rollout?.released, 1)
  const advanced = await post('advance')(hands.maker, runId)
  assert.deepEqual([advanced.status, advanced.json.rollout.state], [200, 'AWAITING_APPROVAL'])
  await tryAll([...whileWaiting, ...weakened], runId)
  const { rollout } = await runOf(path)
  assert.deepEqual([rollout?.state, rollout?.released], ['AWAITING_APPROVAL', 1])
  const approved = await post('approve')(other, runId)
  assert.deepEqual([approved.status, approved.json.rollout.wave], [200, 2])
  await waitFor(path, 2)
  // Another principal may remove the next gate, with APPROVE.
  const weak = byKey((await api.newKey(['MANAGE'])).apiKey)
  assert.match((await patch({ next: null })(weak, runId)).text, /"J-804".*APPROVE/)
  assert.equal((await patch({ next: null })(other, runId)).json.rollout.state, 'AWAITING_APPROVAL')
  assert.equal((await post('approve')(other, runId)).json.code, 'J-810')
  await api.call('POST', `${path}/cancel`)
})

test('a retry or a rollback keeps the gates of the original run, or waits for approval', async () => {
  const { runId, path, jobName } = await launch({ rollout: gate })
  await waitFor(path, 1)
  const reply = await devices[0]?.startNext()
  await devices[0]?.update(reply?.json.execution.jobId, 'FAILED')
  await waitFor(path, 1, 'PAUSED')
  for (const send of Object.values(hands)) {
    const retried = await send('POST', `runs/${runId}/retry`, { rollout: {} })
    assert.equal(retried.json.rollout.state, 'AWAITING_APPROVAL', retried.text)
    assert.equal((await post('approve')(send, retried.json.runId)).json.code, 'J-810')
    await post('cancel')(send, retried.json.runId)
  }
  await api.call('PUT', `/job/api/jobs/${jobName}`, { body: { rollout: gate } })
  const body = { jobName, targets: { deviceIds: ids } }
  const oneWave = [{ size: '100%' }, { size: '100%' }]
  for (const more of [
    { rollout: {} },
    { version: 1, rollout: {} },
    { approval: false, rollout: { waves: gate.waves } },
    { rollout: { ...gate, waves: oneWave } },
    { version: 1, rollout: { ...gate, waves: oneWave } },
    { rollout: { ...gate, waves: [{ size: '99%' }, { size: '100%' }] } },
    { rollout: { ...gate, waves: [{ size: 1 }, { size: '100%' }] } },
    { rollout: { ...gate, next: { ...gate.next, succeededPercent: 1 } } },
    { rollout: { ...gate, next: { action: 'APPROVAL' } } },
  ]) {
    const run = await hands.maker('POST', 'runs', { ...body, ...more })
    assert.equal(run.json.rollout?.state, 'AWAITING_APPROVAL', run.text)
    await post('cancel')(hands.maker, run.json.runId)
  }
  const retried = await post('retry', { rollout: { ...gate, waves: oneWave } })(hands.maker, runId)
  assert.equal(retried.json.rollout.state, 'AWAITING_APPROVAL', retried.text)
  const when = { at: '2099-01-01T00:00:00Z' }
  const scheduled = { ...body, when, rollout: { ...gate, waves: oneWave } }
  assert.equal((await hands.maker('PUT', 'schedules/displaced', scheduled)).status, 201)
  const fired = await hands.maker('POST', 'schedules/displaced/fire')
  assert.equal((await hands.maker('GET', `runs/${fired.json.runId}`)).json.rollout.state, 'AWAITING_APPROVAL')
  // The same gates and one more need no approval before they are reached.
  const waves = [...gate.waves.slice(0, -1), { size: 1 }, { size: '100%' }]
  const stricter = await hands.maker('POST', 'runs', { ...body, rollout: { ...gate, waves } })
  assert.equal(stricter.json.rollout.state, 'ROLLING_OUT', stricter.text)
  for (const { json } of [retried, fired, stricter]) await post('cancel')(hands.maker, json.runId)
  await post('cancel')(hands.maker, runId)
})

test('without APPROVE the approval of a job cannot be removed in any way', async () => {
  const manager = byKey((await api.newKey(['MANAGE', 'READ', 'TRIGGER'])).apiKey)
  const put = (content: object, by = manager) => by('PUT', 'jobs/guarded', content)
  assert.equal((await put({ document: { n: 1 } })).status, 201)
  assert.equal((await put({ approval: true })).json.approval, true)
  assert.deepEqual((await put({ approval: { required: 3 } })).json.approval, { required: 3 })
  const fewer: [string, () => Promise<Reply>][] = [
    ['PUT without', () => put({})],
    ['PUT with false', () => put({ approval: false })],
    ['PUT with fewer', () => put({ approval: { required: 2 } })],
    ['PUT with one', () => put({ approval: true })],
    ['restore one without', () => manager('POST', 'jobs/guarded/versions/1/restore')],
    ['restore one with fewer', () => manager('POST', 'jobs/guarded/versions/2/restore')],
  ]
  const tryFewer = async () => {
    for (const [what, call] of fewer) {
      const reply = await call()
      assert.equal(reply.status, 403, `${what}: ${reply.text}`)
      assert.match(reply.text, /"J-804".*APPROVE/)
    }
  }
  await tryFewer()
  assert.equal((await manager('DELETE', 'jobs/guarded')).status, 204)
  fewer.splice(4)
  await tryFewer()
  assert.equal((await put({ approval: { required: 3 } })).status, 201)
  assert.equal((await put({ approval: { required: 4 }, rollout: gate })).status, 200)
  // Gates of its rollout ask for approval as well, whatever it asks for before a run begins.
  const restored = await manager('POST', 'jobs/guarded/versions/1/restore')
  assert.equal(restored.json.code, 'J-804', restored.text)
  assert.equal((await put({ approval: { required: 4 } })).json.code, 'J-804')
  assert.equal((await put({ rollout: gate }, other)).status, 200)
  assert.equal((await put({})).json.code, 'J-804')
  const waves = [{ size: '100%' }, { size: '100%' }]
  for (const approval of [false, true]) {
    assert.equal((await put({ approval })).json.code, 'J-804')
    assert.equal((await put({ approval, rollout: { ...gate, waves } })).json.code, 'J-804')
    const next = { ...gate.next, succeededPercent: 89 }
    assert.equal((await put({ approval, rollout: { ...gate, next } })).json.code, 'J-804')
  }
  assert.equal((await put({ approval: true, rollout: gate })).status, 200)
  assert.equal((await put({ approval: true }, other)).status, 200)
  assert.equal((await put({}, other)).json.approval, false)
  assert.equal((await put({})).status, 200)
  for (const approval of ['yes', { required: 0 }, { required: 11 }, { required: 1.5 }, {}, null]) {
    const headers = { accept: 'application/problem+json' }
    const path = '/job/api/jobs/guarded'
    const { status, json } = await api.call('PUT', path, { body: { approval }, headers })
    assert.deepEqual(
      [status, json.code, json.errors?.[0]?.field ?? json.field],
      [400, 'J-500', 'approval'],
      JSON.stringify(json),
    )
  }
})

test('whoever put a schedule that another principal resumed, or started a run early, is involved in it', async () => {
  const name = 'resumed'
  await hands.maker('PUT', `jobs/${name}`, { approval: true })
  const targets = { deviceIds: ids }
  await hands.maker('PUT', `schedules/${name}`, { jobName: name, targets, when: { cron: '0 3 * * *' } })
  await hands.changer('POST', `schedules/${name}/pause`)
  assert.equal((await hands.changer('POST', `schedules/${name}/resume`)).status, 200)
  const { runId } = (await hands.firer('POST', `schedules/${name}/fire`)).json
  await tryAll(whileWaiting, runId)
  assert.equal((await post('deny')(other, runId)).json.rollout.state, 'DENIED')

  const startAt = new Date(Date.now() + 3_600_000).toISOString()
  const later = (await hands.maker('POST', 'runs', { jobName: name, targets, startAt })).json
  assert.equal((await post('advance')(other, later.runId)).json.rollout.state, 'AWAITING_APPROVAL')
  assert.equal((await post('approve')(other, later.runId)).json.code, 'J-810')
  assert.equal((await post('approve')(hands.changer, later.runId)).json.rollout.state, 'RELEASED')
  await post('cancel')(hands.maker, later.runId)
})

test('whoever changes the window of a run, or a group in its gate, is involved in it', async () => {
  const window = { cron: '0 2 * * *', durationMinutes: 60 }
  await hands.maker('PUT', 'windows/watched', window)
  await hands.maker('PUT', 'groups/inner', { where: 'reported.fw=2' })
  await hands.maker('PUT', 'groups/updated', { where: 'group=inner' })
  const before = byKey(await newKey('before'))
  await before('PUT', 'groups/inner', { where: 'reported.fw=3' })
  await hands.maker('PUT', 'jobs/watched', { approval: true, window: 'watched' })
  const rollout = {
    waves: [{ size: 1 }, { size: '100%' }],
    next: { where: 'group=updated', onMissing: 'WAIT' },
  }
  // What was changed in the millisecond in which the run is created counts.
  await setTimeout(2)
  const body = { jobName: 'watched', targets: { deviceIds: ids }, rollout }
  const { runId } = (await hands.maker('POST', 'runs', body)).json
  const path = `/job/api/runs/${runId}`

  const ofWindow = byKey(await newKey('of window'))
  const ofGroup = byKey(await newKey('of group'))
  const same = byKey(await newKey('same'))
  assert.equal((await ofWindow('PUT', 'windows/watched', { ...window, durationMinutes: 120 })).status, 200)
  assert.equal((await ofGroup('PUT', 'groups/inner', { where: 'reported.fw>=2' })).status, 200)
  assert.equal((await same('PUT', 'windows/watched', { ...window, durationMinutes: 120 })).status, 200)
  const described = { where: 'reported.fw>=2', description: 'Updated' }
  assert.equal((await same('PUT', 'groups/inner', described)).status, 200)
  for (const [what, call, code] of decisions) {
    for (const send of [ofWindow, ofGroup, hands.maker])
      assert.equal((await call(send, runId)).json.code, code, what)
  }
  const approved = await post('approve')(same, runId)
  assert.deepEqual([approved.status, approved.json.rollout.state], [200, 'ROLLING_OUT'])
  await waitFor(path, 1)

  // The gate would open for everybody: what was approved is something else now.
  assert.equal((await ofGroup('PUT', 'groups/inner', { where: 'all' })).status, 200)
  await post('advance')(hands.maker, runId)
  await waitFor(path, 1, 'AWAITING_APPROVAL')
  assert.equal((await post('approve')(ofGroup, runId)).json.code, 'J-810')
  assert.equal((await post('approve')(before, runId)).status, 200)
  await post('cancel')(hands.maker, runId)
})

test('an approval does not count for a run whose window has changed before the next one', async () => {
  const window = { cron: '0 2 * * *', durationMinutes: 60 }
  await hands.maker('PUT', 'windows/twice', window)
  await hands.maker('PUT', 'jobs/twice', { approval: { required: 2 }, window: 'twice' })
  const body = { jobName: 'twice', targets: { deviceIds: ids } }
  const { runId } = (await hands.maker('POST', 'runs', body)).json
  const second = byKey(await newKey('second'))
  const given = async () => (await other('GET', `runs/${runId}`)).json.rollout.approval.given
  assert.equal((await post('approve')(other, runId)).status, 200)
  assert.equal(await given(), 1)
  await hands.changer('PUT', 'windows/twice', { ...window, durationMinutes: 120 })
  assert.equal(await given(), 0)
  assert.equal((await post('approve')(second, runId)).json.rollout.state, 'AWAITING_APPROVAL')
  assert.equal((await post('approve')(second, runId)).json.code, 'J-303')
  assert.equal((await post('approve')(other, runId)).json.rollout.state, 'RELEASED')
  await post('cancel')(hands.maker, runId)
})
