// The receiver of docs/webhooks.md does what the page says.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openServer } from '@jobcast/testkit/open-server'
import { within } from '@jobcast/testkit/within'

const program = fileURLToPath(new URL('../../../docs/examples/webhook-receiver.mjs', import.meta.url))

test('docs/examples/webhook-receiver.mjs verifies events and refuses what is not signed', async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const env = { ...process.env, SECRET: secret, PORT: '0' }
  const receiver = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(receiver, 'close')
  t.after(async () => {
    receiver.kill()
    await gone
  })
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => (await within(60_000, 'no line', lines.next())).value as string
  const port = (await nextLine()).split(' ').at(-1)
  const url = `http://127.0.0.1:${port}/`

  const api = await openServer(t, { webhookAllow: ['127.0.0.1'] })
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 400)
  assert.equal((await api.call('PUT', '/job/api/webhooks/ops', { body: { url, secret } })).status, 201)
  await api.call('PUT', '/job/api/devices/d1')
  const { type, data } = JSON.parse(await nextLine())
  assert.deepEqual([type, data.deviceId], ['device.created', 'd1'])
})
