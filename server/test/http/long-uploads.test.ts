// Uploads may take longer than Node's limit for whole requests; other requests may not.

import assert from 'node:assert/strict'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerClientErrors } from '../../src/http/connections/client-error.ts'
import { allowLongUpload, isUploading } from '../../src/http/connections/long-uploads.ts'

/** A request whose body is finished once its time limit has passed. */
async function sendSlowly(t: TestContext, isUpload: boolean): Promise<string> {
  const limits = { requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 50 }
  const server = createServer(limits, async (raw, response) => {
    if (isUpload) allowLongUpload({ raw } as FastifyRequest, { raw: response } as FastifyReply)
    const chunks = await raw.toArray().catch(() => [])
    response.end(`got ${Buffer.concat(chunks)}`)
  })
  const answer = answerClientErrors(() => undefined)
  const timedOut = new Promise<void>((resolve) => {
    server.on('clientError', (error, socket) => {
      answer(error, socket as Parameters<typeof answer>[1])
      resolve()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.write('PUT / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 4\r\n\r\nab')
  await timedOut
  socket.write('cd')
  return Buffer.concat(await socket.toArray()).toString()
}

test('an upload continues after the time limit of requests', async (t) => {
  assert.match(await sendSlowly(t, true), /^HTTP\/1\.1 200 [\s\S]*got abcd/)
})

test('another request is answered with J-903', async (t) => {
  assert.match(await sendSlowly(t, false), /^HTTP\/1\.1 408 [\s\S]*"code":"J-903"/)
})

/** Of which nothing more arrives. */
function startUpload(t: TestContext, prepare: (response: ServerResponse) => void = () => undefined) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = new Socket()
  t.after(() => socket.destroy())
  const raw = new IncomingMessage(socket)
  const response = new ServerResponse(raw)
  prepare(response)
  allowLongUpload({ raw } as FastifyRequest, { raw: response } as FastifyReply)
  return { socket, raw }
}

test('an upload of which too little arrives is cut', (t) => {
  const { socket } = startUpload(t)
  assert.equal(isUploading(socket), true)
  t.mock.timers.tick(15_000)
  assert.equal(socket.destroyed, true)
})

test('an upload whose client has left already is not watched', (t) => {
  const { socket } = startUpload(t, (response) => response.destroy())
  assert.equal(isUploading(socket), false)
  t.mock.timers.tick(15_000)
  assert.equal(socket.destroyed, false)
})

test('an upload that has arrived whole is not cut while it is written', async (t) => {
  const { socket, raw } = startUpload(t)
  raw.complete = true
  raw.push(null)
  raw.resume()
  await new Promise((resolve) => raw.once('end', resolve))
  t.mock.timers.tick(30_000)
  assert.equal(socket.destroyed, false)
})
