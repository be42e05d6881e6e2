// Content as an answer: its slot is free again whenever the client leaves.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { waitUntil } from '@jobcast/testkit/wait-until'
import fastify, { type FastifyReply } from 'fastify'
import { noContents } from '../../src/domain/file/ports/contents.ts'
import { sendContent } from '../../src/http/wire/send-content.ts'
import { TransferSlots } from '../../src/state/transfer-slots.ts'

const content = 'content'
const file = { fileName: 'app', version: '1', size: content.length, sha256: 'a'.repeat(64) }

/** One slot. `before`: what the request waits for before its content is sent. */
async function listen(
  t: TestContext,
  before: (reply: FastifyReply) => Promise<unknown> = async () => undefined,
  open = async () => Readable.from([content]),
  size = content.length,
) {
  const contents = { ...noContents, isOpen: true, open }
  const downloads = new TransferSlots(1, 'downloads', () => 0)
  const sent = Promise.withResolvers<void>()
  const app = fastify()
  t.after(() => app.close())
  app.setErrorHandler((error, _request, reply) =>
    reply.code(503).send(error instanceof ApiError ? error.code : String(error)),
  )
  app.get('/', async (request, reply) => {
    await before(reply)
    try {
      return await sendContent({ contents, downloads, tell: () => undefined }, request, reply, 1, {
        ...file,
        size,
      })
    } finally {
      sent.resolve()
    }
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { downloads, url, sent: sent.promise }
}

test('a client that has left before its content is sent takes no slot', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const { downloads, url, sent } = await listen(t, (reply) => {
    arrived.resolve()
    return new Promise((resolve) => reply.raw.once('close', resolve))
  })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await arrived.promise
  socket.destroy()
  await sent
  assert.equal(downloads.taken, 0)
})

test('content takes a slot until it is sent, and without one nothing is said about a part', async (t) => {
  const { downloads, url } = await listen(t)
  const get = () => fetch(url, { headers: { range: 'bytes=0-2' } })
  const whole = await get()
  assert.deepEqual([whole.status, whole.headers.get('content-range')], [206, 'bytes 0-2/7'])
  await whole.arrayBuffer()
  const release = downloads.take(1)
  const refused = await get()
  assert.deepEqual([refused.status, await refused.text()], [503, 'J-908'])
  for (const name of ['content-range', 'content-disposition']) assert.equal(refused.headers.get(name), null)
  release()
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  assert.equal(downloads.taken, 0)
})

test('a client that takes nothing is disconnected, and its slot is free', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const endless = new Readable({ read: () => void endless.push(Buffer.alloc(64 * 1024)) })
  const { downloads, url } = await listen(t, undefined, async () => endless, Number.MAX_SAFE_INTEGER)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  t.after(() => socket.destroy())
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  socket.pause()
  await waitUntil('the slot is taken', async () => downloads.taken === 1)
  await waitUntil('the slot is free', async () => {
    // What the kernel buffers counts as taken.
    t.mock.timers.tick(120_000)
    return downloads.taken === 0
  })
})

test('a client is not disconnected while it waits for content that takes long', async (t) => {
  const stream = new Readable({ read: () => undefined })
  const { url } = await listen(t, undefined, async () => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    stream.push('c')
    return stream
  })
  const reply = await fetch(url)
  const reader = reply.body?.getReader()
  await reader?.read()
  t.mock.timers.tick(600_000)
  stream.push('ontent')
  stream.push(null)
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'ontent')
})
