// The list of webhooks in the terminal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { runJobcast } from './run-jobcast.ts'

const server = await openSharedServer({ webhookAllow: ['127.0.0.1'] })

test('the list shows what a webhook of a restricted key is restricted to', async () => {
  const { apiKey } = await server.newKey(['MANAGE', 'READ'], { where: 'tag=berlin' })
  const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: apiKey }
  const put = await runJobcast(['webhooks', 'put', 'confined', '--to', 'http://127.0.0.1:9/'], access)
  assert.equal(put.code, 0, put.stderr)
  const { stdout } = await runJobcast(['webhooks'], access)
  assert.match(stdout, /RESTRICTED TO.*\nconfined .*tag=berlin/)
})
