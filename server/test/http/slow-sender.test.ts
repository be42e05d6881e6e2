// Callers that send a byte per second, or disconnect halfway: they are disconnected in time, without internal errors.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { rawRequest } from '@jobcast/testkit/raw-request'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

// The guarantee is 15 s; this bound also holds on a busy machine.
const longestMs = 45_000
const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1'])
const body = '{"jobName":"update","deviceIds":["d1"]}'

function openSocket(): Socket {
  const { hostname, port } = new URL(api.http)
  return connect(Number(port), hostname)
}

/** Sends the start at once and then a byte a second, until the server has closed the connection. */
async function sendSlowly(start: string, everySecond: string) {
  const begun = performance.now()
  const socket = openSocket()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => undefined) // a byte that meets a closed connection
  socket.write(start)
  const drip = setInterval(() => socket.write(everySecond), 1000)
  await once(socket, 'end')
  clearInterval(drip)
  socket.destroy()
  return { status: Number(text.slice(9, 12)), text, body: text.split('\r\n\r\n')[1] ?? '', begun }
}

const whole = rawRequest(api.adminKey, { headers: ['Content-Length: 1000', 'Connection'], body }).toString()
const slow = {
  'headers at a byte a second': { start: whole.slice(0, 40), drip: 'a' },
  'a header name that never ends, after half the headers': { start: whole.slice(0, 90), drip: 'a' },
  'a body at a byte a second': { start: whole, drip: ' ' },
  'a body that never comes': { start: whole.slice(0, whole.indexOf('{')), drip: '' },
}

describe('a slow caller', { concurrency: true }, () => {
  for (const [title, { start, drip }] of Object.entries(slow)) {
    test(`is answered J-903 within 15 s when it sends ${title}`, async () => {
      const reply = await sendSlowly(start, drip)
      assert.ok(performance.now() - reply.begun < longestMs)
      assertRefused(reply, 'J-903')
      assert.equal(reply.text.match(/HTTP\/1\.1/g)?.length, 1)
    })
  }
})

test('a caller that disconnects within the body creates nothing', async () => {
  const socket = openSocket()
  socket.write(rawRequest(api.adminKey, { headers: ['Content-Length: 1000', 'Expect: 100-continue'], body }))
  await once(socket, 'data') // 100 Continue: the server has begun to read
  socket.destroy()
  await once(socket, 'close')
})

test('has created nothing, counts no internal error, and still responds', async () => {
  assert.deepEqual((await api.call('GET', '/job/api/executions')).json.items, [])
  assert.match((await api.call('GET', '/metrics')).text, /^jobcast_http_failures_total 0$/m)
  assert.equal((await api.trigger('update', ['d1'])).status, 201)
})
