// The log line of a request: the caller, the address, and the key.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecretText } from '../../src/domain/access/secret-text.ts'
import { openApp } from './open-app.ts'

test('a request is logged with address, user agent and the id of its key, also of one that was refused', async (t) => {
  const { app, adminKey, told } = await openApp(t)
  const unknown = newSecretText('jc')
  const call = async (key: string, userAgent: string) => {
    const headers = { host: 'x', 'x-api-key': key, 'user-agent': userAgent }
    await app.inject({ url: '/job/api/keys/self', headers, remoteAddress: '192.0.2.7' })
    const event = told.findLast((event) => event.kind === 'request-answered')
    return [event?.address, event?.userAgent, event?.keyId, event?.triedKeyId]
  }
  assert.deepEqual(await call(adminKey, 'curl/8'), ['192.0.2.7', 'curl/8', adminKey.slice(3, 13), undefined])
  assert.deepEqual(await call(unknown.text, 'curl/8'), ['192.0.2.7', 'curl/8', undefined, unknown.id])
  const [, cut] = await call(adminKey, 'x'.repeat(5000))
  assert.equal(cut?.length, 200)
  const [, hidden] = await call(adminKey, `tool ${unknown.text}`)
  assert.equal(hidden, undefined)
})
