// Failing background tasks are shown in the run, in the schedule, in explain and in a metric. In this test the database refuses the
// writes.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openServer } from '@jobcast/testkit/open-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

type Failing = { since: string; times: number; message: string }

async function openRefusing(t: Parameters<typeof openServer>[0]) {
  const api = await openServer(t, { databaseUrl: undefined })
  const db = new DatabaseSync(join(api.folder, 'jobcast.db'), { timeout: 30_000 })
  t.after(() => db.close())
  return {
    api,
    refuse(change: string) {
      db.exec(`CREATE TRIGGER refuse BEFORE ${change} BEGIN SELECT RAISE(ABORT, 'refused'); END`)
    },
    accept: () => db.exec('DROP TRIGGER refuse'),
    async countOf(kind: string): Promise<string | undefined> {
      const text = await (await fetch(`${api.http}/metrics`)).text()
      return text.match(new RegExp(`^jobcast_failing_tasks\\{kind="${kind}"\\} (\\d+)$`, 'm'))?.[1]
    },
  }
}

function assertFailing(failing: Failing | null): void {
  assert.ok(failing && failing.times >= 2, JSON.stringify(failing))
  assert.match(failing.message, /^internal error/)
  assert.ok(Math.abs(Date.now() - Date.parse(failing.since)) < 300_000)
}

test('a rollout that cannot be written says so until it can', async (t) => {
  const { api, refuse, accept, countOf } = await openRefusing(t)
  const ids = ['d1', 'd2']
  for (const id of ids) await newDevice(api, id)
  await api.call('PUT', '/job/api/jobs/slow', {
    body: { rollout: { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] } },
  })
  const reply = await api.trigger('slow', ids)
  const path = reply.headers.get('location') as string
  const rollout = async () => (await api.call('GET', path)).json.rollout
  await waitUntil('the first wave is released', async () => (await rollout()).released === 1)
  assert.equal((await rollout()).failing, null)
  refuse('UPDATE ON rollout')
  await api.call('POST', `/job/api/executions/${reply.json[0].jobExecutionId}/cancel`)
  await waitUntil('the run says that it fails', async () => (await rollout()).failing !== null)
  assertFailing((await rollout()).failing)
  const explained = await api.call('GET', `/job/api/executions/${reply.json[1].jobExecutionId}/explain`)
  assert.equal(explained.json.code, 'RELEASE_FAILING')
  assert.match(
    explained.json.text,
    /^Run \d+ cannot continue: \d+ tries have failed since .*, the last one with: /,
  )
  const { items } = (await api.call('GET', '/job/api/runs')).json
  assertFailing(items[0].rollout.failing)
  await waitUntil('the metric counts it', async () => (await countOf('rollout')) === '1')
  accept()
  await waitUntil('it continues, to its closed gate', async () => (await rollout()).state === 'PAUSED')
  assert.equal((await rollout()).failing, null)
  await waitUntil('the metric counts none', async () => (await countOf('rollout')) === '0')
})

test('a schedule that cannot be written says so until it can', async (t) => {
  const { api, refuse, accept, countOf } = await openRefusing(t)
  await newDevice(api, 'd1')
  await api.call('PUT', '/job/api/jobs/nightly', { body: {} })
  refuse('UPDATE ON schedule')
  const at = new Date(Date.now() + 5000).toISOString()
  const path = '/job/api/schedules/once'
  const put = await api.call('PUT', path, {
    body: { jobName: 'nightly', targets: { deviceIds: ['d1'] }, when: { at } },
  })
  assert.deepEqual([put.status, put.json.failing], [201, null], JSON.stringify(put.json))
  const get = async () => (await api.call('GET', path)).json
  await waitUntil('the schedule says that it fails', async () => (await get()).failing !== null)
  assertFailing((await get()).failing)
  assertFailing((await api.call('GET', '/job/api/schedules')).json.items[0].failing)
  await waitUntil('the metric counts it', async () => (await countOf('schedule')) === '1')
  accept()
  await waitUntil('it has made its run', async () => (await get()).lastRunId !== null)
  await waitUntil('it does not say so any more', async () => (await get()).failing === null)
})

test('timers that cannot be written are explained', async (t) => {
  const { api, refuse, accept, countOf } = await openRefusing(t)
  const device = await newDevice(api, 'd1')
  await api.call('PUT', '/job/api/jobs/timed', { body: { timeoutSeconds: 1 } })
  const [{ jobExecutionId }] = (await api.trigger('timed', ['d1'])).json
  // Before its timer runs, which may be soon over where the machine is busy.
  refuse("UPDATE ON execution WHEN NEW.state = 'TIMED_OUT'")
  assert.equal((await device.update(jobExecutionId, 'IN_PROGRESS')).status, 200)
  await waitUntil('the metric counts it', async () => (await countOf('timers')) === '1')
  const explain = async () => (await api.call('GET', `/job/api/executions/${jobExecutionId}/explain`)).json
  await waitUntil('explain says so', async () => (await explain()).code === 'TIMER_FAILING')
  assert.match((await explain()).text, /^Its timer was due at .*, but timers cannot be written: \d+ tries/)
  accept()
  await waitUntil('it has timed out', async () => (await explain()).code === 'ENDED')
  await waitUntil('the metric counts none', async () => (await countOf('timers')) === '0')
})

test('an expiry that cannot be written is explained', async (t) => {
  const { api, refuse, accept } = await openRefusing(t)
  await newDevice(api, 'd1')
  await api.call('PUT', '/job/api/jobs/short', { body: { expireAfterSeconds: 1 } })
  refuse("UPDATE ON execution WHEN NEW.state = 'EXPIRED'")
  const [{ jobExecutionId }] = (await api.trigger('short', ['d1'])).json
  const explain = async () => (await api.call('GET', `/job/api/executions/${jobExecutionId}/explain`)).json
  await waitUntil('explain says so', async () => (await explain()).code === 'TIMER_FAILING')
  accept()
  await waitUntil('it has expired', async () => (await explain()).code === 'ENDED')
})
