// PostgreSQL fails over to a standby that lacks the last commits: the service notices and continues automatically.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, execute, startOwnPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

/** It may also be cut off while the database is away. */
async function readToEnd({ body }: Response): Promise<string> {
  let text = ''
  try {
    for await (const bytes of body ?? []) text += Buffer.from(bytes).toString()
  } catch {}
  return text
}

const postgres = await startOwnPostgres()

test('streams end, triggers are answered, and ids that were lost are not taken for known ones', async (t) => {
  const databaseUrl = await createDatabase(postgres.url)
  const api = await openServer(t, { databaseUrl })
  await api.putJobAndDevices('restart', ['d1', 'd2'])
  assert.equal((await api.trigger('restart', ['d1'])).status, 201)
  await postgres.keepStandby()

  // From here on all of it is lost: a job, runs in partitions that the standby does not have, and their events.
  const settled = async (work: () => Promise<{ status: number }>) =>
    waitUntil('it is answered', async () => (await work()).status < 300, { timeoutMs: 30_000 })
  await settled(() => api.call('PUT', '/job/api/jobs/restart', { body: { document: { lost: true } } }))
  await execute(databaseUrl, "SELECT setval('last_execution_id', 70000000)")
  await settled(() => api.trigger('restart', ['d1', 'd2']))
  const lost = (await api.call('GET', '/job/api/runs')).json.items[0]
  assert.deepEqual((await api.call('GET', `/job/api/runs/${lost.runId}/document`)).json, { lost: true })
  await settled(() => api.call('PUT', '/job/api/devices/lost', { body: { deviceName: 'Lost' } }))
  await settled(() => api.trigger('restart', ['lost']))
  await execute(databaseUrl, "SELECT setval('event_id', 5000)")
  await settled(() => api.trigger('restart', ['d1', 'd2']))
  const stream = await fetch(`${api.http}/job/api/events`, { headers: { 'x-api-key': api.adminKey } })
  assert.equal(stream.status, 200)
  const ended = readToEnd(stream)

  await postgres.failOver()
  await waitUntil('it has taken over', async () => {
    const [row] = await execute(databaseUrl, 'SELECT pg_is_in_recovery() AS "isStandby"')
    return row?.isStandby === false
  })
  await execute(databaseUrl, "SELECT setval('last_execution_id', 70000000)")
  // The node remembers a device that is not there.
  await waitUntil('it is refused', async () => {
    const { status, json } = await api.trigger('restart', ['lost'])
    assert.notEqual(status, 201)
    return json.code === 'J-001'
  })
  await settled(() => api.trigger('restart', ['d1']))
  const text = await ended
  const lastId = Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1])
  assert.ok(lastId > 5000, text)
  // Whoever comes back with an id that is lost is told so, and can start over.
  const again = await api.call('GET', '/job/api/events', { headers: { 'last-event-id': `${lastId}` } })
  assert.equal(again.json.code, 'J-306')
  const { json } = await api.call('GET', '/job/api/runs')
  assert.equal(json.items.length, 2)
  // The next version of the job has the number of the lost one.
  await api.call('PUT', '/job/api/jobs/restart', { body: { document: { kept: true } } })
  await api.trigger('restart', ['d2'])
  const { runId } = (await api.call('GET', '/job/api/runs')).json.items[0]
  await waitUntil('the node has noticed', async () => {
    const document = await api.call('GET', `/job/api/runs/${runId}/document`)
    return document.json.kept === true
  })
  assert.equal((await api.call('GET', '/readyz')).status, 200)
})
