import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer()
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

test('pipelined requests are all answered, in their order', async () => {
  const { text } = await sendRaw(api.http, (get('/livez') + get('/nothing')).repeat(20), 40)
  const answers = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => status)
  assert.deepEqual(
    answers,
    Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? '200' : '404')),
  )
})

test('bodies of pipelined requests reach their own request', async () => {
  const trigger = (jobName: string) => {
    const body = JSON.stringify({ jobName, deviceIds: ['d1'] })
    return (
      `POST /job/api/jobs/execute HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.adminKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    )
  }
  await api.putJobAndDevices('a', ['d1'])
  const { text } = await sendRaw(api.http, trigger('a') + trigger('none') + trigger('a'), 3)
  const answers = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => status)
  assert.deepEqual(answers, ['201', '404', '201'])
})

test('a client that pipelines thousands of requests is disconnected, and others are not', async () => {
  const outcome = await sendRaw(api.http, get('/livez').repeat(3000), 3000).catch((error) => error.code)
  // The reset may overtake the answers.
  assert.ok(outcome === 'ECONNRESET' || outcome.closed)
  assert.equal((await api.call('GET', '/livez')).status, 200)
})
