// A rollback creates its run only when no execution of the original run can start any more: on both stores.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { batchSize } from '../../src/domain/execution/move-batch.ts'
import { openApp } from './open-app.ts'

const stores = {
  SQLite: async () => undefined,
  PostgreSQL: async () => createDatabase(await sharedPostgres()),
}

for (const [name, newDatabase] of Object.entries(stores)) {
  test(`${name}: a node that stops in the middle of it makes no run, and the call can be repeated`, async (t) => {
    const stopping = new AbortController()
    stopping.abort()
    const { app, deps, adminKey } = await openApp(t, { stopping: stopping.signal }, await newDatabase())
    const call = async (method: 'GET' | 'POST' | 'PUT', url: string, body?: object | string) => {
      const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
      const headers = { 'x-api-key': adminKey, ...(body && { 'content-type': type }) }
      return app.inject({ method, url, headers, ...(body && { payload: body }) })
    }
    for (const n of [1, 2]) await call('PUT', '/job/api/jobs/app', { document: { n } })
    const total = batchSize + 5
    const lines = Array.from({ length: total }, (_, at) => `{"deviceId":"d${at}"}\n`)
    assert.equal((await call('POST', '/job/api/devices/import', lines.join(''))).json().created, total)
    const bad = await call('POST', '/job/api/runs', { jobName: 'app', targets: { where: 'all' } })
    assert.deepEqual([bad.statusCode, bad.json().rollout], [201, null])
    const path = `/job/api/runs/${bad.json().runId}`

    const refused = await call('POST', `${path}/rollback`, {})
    assert.deepEqual([refused.statusCode, refused.json().code], [503, 'J-910'])
    assert.equal(refused.headers['retry-after'], '1')
    assert.ok((await call('GET', path)).json().counts.PENDING > 0, 'the node left some')
    assert.equal((await call('GET', '/job/api/runs')).json().items.length, 1, 'no run is made')

    // Another node.
    deps.stopping = new AbortController().signal
    const made = await call('POST', `${path}/rollback`, {})
    assert.deepEqual([made.statusCode, made.json().total, made.json().version], [201, total, 1], made.body)
    assert.equal((await call('GET', path)).json().counts.CANCELED, total)
  })
}
