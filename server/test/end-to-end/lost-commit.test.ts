// The response to a caller when the connection is lost between a COMMIT and its result.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { openCommitProxy } from '../store/commit-proxy.ts'

test('a trigger that may have been made says so, and its repetition with the same key makes no second run', async (t) => {
  const proxy = await openCommitProxy(t, await createDatabase(await sharedPostgres()))
  const api = await openServer(t, { databaseUrl: proxy.url })
  t.after(() => {
    proxy.isDown = false
  })
  await api.putJobAndDevices('lost-job', ['d1'])
  const headers = { 'idempotency-key': 'once' }
  const trigger = () => api.trigger('lost-job', ['d1'], { headers })
  proxy.breakNext('after-commit', 'lost-job', { isDown: true })
  let open = await trigger()
  // A machine may be so busy that the node takes itself for cut off and refuses at once.
  await waitUntil('the answer of the COMMIT is lost', async () => {
    if (proxy.broken === 0) open = await trigger()
    return proxy.broken === 1
  })
  assert.deepEqual(open.json, {
    code: 'J-909',
    message:
      'Storage is not available: the request may have taken effect; repeat a trigger only with the same Idempotency-Key',
    status: 503,
  })
  proxy.isDown = false
  await waitUntil('the repetition is answered', async () => (await trigger()).status === 201)
  const { json } = await api.call('GET', '/job/api/runs')
  assert.equal(json.items.length, 1)
})
