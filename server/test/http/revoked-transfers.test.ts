// Uploads and downloads may take hours. They end when their key is revoked: what arrives afterwards is not stored.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'

const api = await openSharedServer({ maxDownloads: 1 })
const content = randomBytes(200_000)
const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`
const part = {
  'repr-digest': digest,
  'content-range': `bytes 0-${content.length - 1}/${content.length}`,
}

/** All files in the folder of contents. */
function stored(): string[] {
  const folder = join(api.folder, 'files')
  if (!existsSync(folder)) return []
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  return found.filter((each) => each.isFile()).map(({ name }) => name)
}

for (const [what, headers] of [
  ['a whole file', {}],
  ['the last part of a file', part],
] as const) {
  test(`${what} that is complete after its key was revoked is not stored`, async () => {
    const { apiKey, keyId } = await api.newKey(['MANAGE'])
    const before = stored().length
    const path = '/job/api/files/app/1'
    const sent = request(api.http + path, {
      method: 'PUT',
      headers: { ...headers, 'x-api-key': apiKey, 'content-length': content.length },
    })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    sent.write(content.subarray(0, 100_000))
    await waitUntil('the upload has begun', () => stored().length > before)
    await api.call('DELETE', `/job/api/keys/${keyId}`)
    sent.end(content.subarray(100_000))
    const [answer] = await answered
    assert.deepEqual([answer.statusCode, JSON.parse(await text(answer)).code], [403, 'J-802'])
    assert.equal((await api.call('GET', path)).json.code, 'J-319')
  })
}

test('a download ends after its key was revoked', async (t) => {
  const path = '/job/api/files/large/1'
  const put = await api.call('PUT', path, {
    rawBody: randomBytes(32 * 1024 * 1024),
    headers: { 'content-type': 'application/octet-stream' },
  })
  assert.equal(put.status, 201, put.text)
  const { apiKey, keyId } = await api.newKey(['READ'])
  const socket = connect({ port: Number(new URL(api.http).port), host: '127.0.0.1' })
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write(`GET ${path}/content HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`)
  const [first] = await once(socket, 'data')
  // From here on it reads nothing, so the download does not end by itself.
  socket.pause()
  assert.match(String(first), /^HTTP\/1.1 200 /)
  const other = async () => {
    const reply = await fetch(`${api.http}${path}/content`, { headers: { 'x-api-key': api.adminKey } })
    await reply.body?.cancel()
    return reply.status
  }
  assert.equal(await other(), 503)
  await api.call('DELETE', `/job/api/keys/${keyId}`)
  await waitUntil('the slot is free', async () => (await other()) === 200)
})
