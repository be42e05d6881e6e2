// Data that one connection sends at once is parsed in turns, and an address that was cut off for it may not reconnect at once.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { certificates } from '@jobcast/testkit/certificates'
import { openServer } from '@jobcast/testkit/open-server'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { countBegunRequests, feedAllInTurns } from '../../src/http/connections/feed-in-turns.ts'

const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'

/** Answers each request; gives the most of them that began in one turn of the event loop. */
async function openCounting(t: TestContext) {
  const server = createServer()
  let [inTurn, most, all] = [0, 0, 0]
  server.on('request', (request, response) => {
    if (inTurn === 0)
      setImmediate(() => {
        inTurn = 0
      })
    most = Math.max(most, ++inTurn)
    all++
    request.resume().on('end', () => response.end('ok'))
  })
  feedAllInTurns(server)
  countBegunRequests(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { http: `http://127.0.0.1:${port}`, most: () => most, all: () => all }
}

test('of thousands of requests in one write few are parsed in a turn, and all are answered in order', async (t) => {
  const { http, most, all } = await openCounting(t)
  const { text } = await sendRaw(http, get.repeat(3000), 3000)
  assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 3000)
  assert.equal(all(), 3000)
  // Two slices: the last one of a read, and the first of the next.
  assert.ok(most() <= 128, `${most()} requests in one turn`)
})

test('a large body arrives whole, and what follows it is a request of its own', async (t) => {
  const { http, all } = await openCounting(t)
  const body = 'x'.repeat(1_000_000)
  const post = `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const { text } = await sendRaw(http, post + get + post + get, 4)
  assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 4)
  assert.equal(all(), 4)
})

const unlimited = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 }

/** Whether a new connection is closed before it is answered. */
async function isRefused(http: string): Promise<boolean> {
  const { hostname, port } = new URL(http)
  const socket = connect(Number(port), hostname, () => socket.write(get))
  const first = await new Promise((resolve) => {
    socket.once('data', () => resolve('answered'))
    socket.once('error', () => resolve('closed'))
    socket.once('close', () => resolve('closed'))
  })
  socket.destroy()
  return first === 'closed'
}

test('an address whose connection was cut off is refused at accept until it has paid', async (t) => {
  const clock = { ms: 0 }
  const options = { rates: { ...unlimited, address: 5 }, elapsed: () => clock.ms }
  const api = await openServer(t, options)
  await sendRaw(api.http, get.repeat(3000), 3000).catch(() => undefined)
  assert.equal(await isRefused(api.http), true)
  clock.ms += 9000
  assert.equal(await isRefused(api.http), true, 'it owes ten seconds')
  clock.ms += 3000
  assert.equal(await isRefused(api.http), false)
})

test('a trusted proxy is not refused for what comes through it', async (t) => {
  const rates = { ...unlimited, address: 5 }
  const api = await openServer(t, { rates, elapsed: () => 0, trustedProxies: ['127.0.0.1'] })
  await sendRaw(api.http, get.repeat(3000), 3000).catch(() => undefined)
  assert.equal(await isRefused(api.http), false)
})

test('with TLS a connection is refused at accept as well, and the others continue', async (t) => {
  const clock = { ms: 0 }
  const cert = readFileSync(certificates.serverCert, 'utf8')
  const key = readFileSync(certificates.serverKey, 'utf8')
  const options = { rates: { ...unlimited, address: 5 }, elapsed: () => clock.ms, tls: { cert, key } }
  const api = await openServer(t, options)
  const ca = readFileSync(certificates.ca)
  const port = Number(new URL(api.http).port)
  const answered = (sent: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connectTls({ port, host: '127.0.0.1', ca }, () => socket.write(sent))
      socket.once('data', () => sent === get && resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('close', () => resolve(false))
    })
  assert.equal(await answered(get.repeat(3000)), false)
  assert.equal(await answered(get), false)
  clock.ms += 12_000
  assert.equal(await answered(get), true)
})
