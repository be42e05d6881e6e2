// A node on PostgreSQL without the key that encrypted the secrets in the database.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openServer } from '@jobcast/testkit/open-server'
import { openNodes } from './open-nodes.ts'

const secretsKeys = [Buffer.alloc(32, 7)]
const parameters = { type: 'object', properties: { token: { type: 'string', writeOnly: true } } }

test('a node does not start without the key, names what is encrypted, and starts while nothing is', async (t) => {
  const { databaseUrl, nodes } = await openNodes(t, 1, { secretsKeys })
  const [node] = nodes
  assert.ok(node)
  const start = async (keys: Buffer[] = []) => {
    const { server } = await openServer(t, { databaseUrl, adminKey: node.adminKey, secretsKeys: keys })
    await server.stop()
  }
  await start()
  const job = { document: { token: '${params.token}' }, parameters }
  assert.equal((await node.call('PUT', '/job/api/jobs/login', { body: job })).status, 201)
  await node.call('PUT', '/job/api/devices/d1', { body: {} })
  const run = { jobName: 'login', targets: { deviceIds: ['d1'] }, parameters: { token: 'a-secret-value' } }
  const made = await node.call('POST', '/job/api/runs', { body: run })
  assert.equal(made.status, 201, made.text)
  await assert.rejects(start(), {
    name: 'StartRefused',
    message: /^JOBCAST_SECRETS_KEY is not set, but the database has encrypted secret parameters of runs\. /,
  })
  const put = await node.call('PUT', '/job/api/secrets/wifi', { body: { value: 'another-secret' } })
  assert.equal(put.status, 201, put.text)
  await assert.rejects(
    start(),
    /has encrypted named secrets and secret parameters of runs\. .*secrets new-key/,
  )
  await start(secretsKeys)
})
