// Requests to real receivers with various responses.

import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { certificates } from '@jobcast/testkit/certificates'
import { EventPoster, type PosterOptions } from '../../../src/dispatch/webhooks/event-poster.ts'
import { allowAddresses } from '../../../src/domain/webhook/allowed-address.ts'

const now = Date.UTC(2026, 10, 15)
const never = new AbortController().signal

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** A receiver, and how a request to it ends. */
async function openReceiver(t: TestContext, listener: RequestListener, more: Partial<PosterOptions> = {}) {
  const server = createServer(listener)
  const port = await listen(t, server)
  const poster = openPoster(t, more)
  const post = (url = `http://127.0.0.1:${port}/hook?a=1`, cut = never) =>
    poster.post({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"ü":1}' }, cut)
  return { server, port, post }
}

function openPoster(t: TestContext, more: Partial<PosterOptions> = {}): EventPoster {
  const isAllowedAddress = allowAddresses(['127.0.0.1', '::1'])
  // A busy machine may need more than the 15 s that receivers have.
  const defaults = { isAllowedAddress, userAgent: 'Jobcast/0', now: () => now, timeoutMs: 240_000 }
  const poster = new EventPoster({ ...defaults, ...more })
  t.after(() => poster.close())
  return poster
}

test('it is a POST with the body and the headers given', async (t) => {
  const got = Promise.withResolvers<unknown[]>()
  const { post } = await openReceiver(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { 'content-length': length, 'user-agent': agent, 'webhook-id': id } = request.headers
    got.resolve([request.method, request.url, body, length, agent, id])
    response.end()
  })
  assert.deepEqual(await post(), { status: 200, error: null, retryAfterMs: 0 })
  assert.deepEqual(await got.promise, ['POST', '/hook?a=1', '{"ü":1}', '8', 'Jobcast/0', 'evt_1'])
})

test('every 2xx counts, nothing else does', async (t) => {
  let status = 200
  const { post } = await openReceiver(t, (_, response) => void response.writeHead(status).end())
  for (status of [200, 201, 202, 204, 299]) assert.equal((await post())?.error, null, String(status))
  for (status of [300, 304, 400, 401, 404, 410, 418, 500, 503]) {
    const answer = await post()
    assert.equal(answer?.status, status)
    assert.ok(answer?.error)
  }
})

test('what a receiver says to a rejected event is shown: its beginning, on one line, and not in the log', async (t) => {
  let body: string | Buffer = ''
  let status = 400
  const { post } = await openReceiver(t, (_, response) => void response.writeHead(status).end(body))
  for (const [said, expected] of [
    ['', 'the receiver answered 400'],
    ['invalid_blocks\n', 'the receiver answered 400: invalid_blocks'],
    ['a\r\n\u001b[31mb\u202ec\u3164\u2800d', 'the receiver answered 400: a [31mb c d'],
    [Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'the receiver answered 400: a b'],
    ['x'.repeat(5000), `the receiver answered 400: ${'x'.repeat(199)}…`],
    [`${' '.repeat(2000)}behind the first KiB`, 'the receiver answered 400'],
    ['x'.repeat(1_000_000), `the receiver answered 400: ${'x'.repeat(199)}…`],
  ] as const) {
    body = said
    const answer = await post()
    assert.equal(answer?.error, expected)
    assert.equal(answer?.detail ?? answer?.error, 'the receiver answered 400')
  }
  status = 200
  assert.equal((await post())?.error, null)
})

test('a redirect is not followed', async (t) => {
  let wasReached = false
  const { port } = await openReceiver(t, () => {
    wasReached = true
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `http://127.0.0.1:${port}/`
    const { post } = await openReceiver(
      t,
      (_, response) => void response.writeHead(status, { location }).end(),
    )
    assert.deepEqual(await post(), { status, error: 'redirects are not followed', retryAfterMs: 0 })
  }
  assert.ok(!wasReached)
})

/** A busy machine may take longer than the first ones to connect, or to answer what it should. */
const timeoutsMs = [50, 500, 5000, 60_000]

test('a receiver that says nothing is left after a time', async (t) => {
  for (const timeoutMs of timeoutsMs) {
    let wasReached = false
    const listener = () => {
      wasReached = true
    }
    const { post } = await openReceiver(t, listener, { timeoutMs })
    const answer = await post()
    if (!wasReached && timeoutMs !== timeoutsMs.at(-1)) continue
    const error = `no answer within ${timeoutMs} ms`
    return assert.deepEqual(answer, { status: null, error, retryAfterMs: 0 })
  }
})

test('a body without an end is cut off, and the status counts', async (t) => {
  const closed = Promise.withResolvers<number>()
  const { post } = await openReceiver(t, (_, response) => {
    let bytes = 0
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1024))) bytes += 1024
    }
    response.on('drain', more)
    response.on('close', () => closed.resolve(bytes))
    response.writeHead(202)
    more()
  })
  assert.equal((await post())?.status, 202)
  await closed.promise
})

test('a body that stops on the way is cut off after the time, and the status counts', async (t) => {
  for (const timeoutMs of timeoutsMs) {
    const respond: RequestListener = (_, response) => void response.writeHead(200).write('x')
    const { post } = await openReceiver(t, respond, { timeoutMs })
    const answer = await post()
    if (answer?.status === null && timeoutMs !== timeoutsMs.at(-1)) continue
    return assert.deepEqual(answer, { status: 200, error: null, retryAfterMs: 0 })
  }
})

const retryAfters: [string, number, string, number][] = [
  ['seconds', 429, '120', 120_000],
  ['seconds', 503, '7', 7000],
  ['a date', 503, new Date(now + 60_000).toUTCString(), 60_000],
  ['a date that is over', 503, new Date(now - 60_000).toUTCString(), 0],
  ['more than an hour', 429, '999999999', 60 * 60_000],
  ['nonsense', 429, 'soon', 0],
  ['seconds with a status that does not ask for it', 500, '120', 0],
]
for (const [title, status, text, expected] of retryAfters) {
  test(`Retry-After with ${title} in ${status}: ${expected} ms`, async (t) => {
    const headers = { 'retry-after': text }
    const { post } = await openReceiver(t, (_, response) => void response.writeHead(status, headers).end())
    assert.equal((await post())?.retryAfterMs, expected)
  })
}

const forbidden = 'the host has no address that this service is allowed to send to'
const noConnection = { status: null, error: 'could not connect', retryAfterMs: 0 }
test('nothing is sent to an address that is not allowed, however it is written', async (t) => {
  let wasReached = false
  const isAllowedAddress = allowAddresses([])
  const reached: RequestListener = (_, response) => {
    wasReached = true
    response.end()
  }
  const { post, port } = await openReceiver(t, reached, { isAllowedAddress })
  const hosts = '127.0.0.1 127.1 0x7f.1 2130706433 0.0.0.0 localhost [::1] [::ffff:127.0.0.1] [::]'
  for (const host of hosts.split(' ')) {
    assert.deepEqual(await post(`http://${host}:${port}/`), { ...noConnection, detail: forbidden }, host)
  }
  assert.ok(!wasReached)
})

test('of the addresses of a name only those are used that are allowed', async (t) => {
  const found = await lookup('localhost', { all: true })
  if (!found.some(({ address }) => address === '127.0.0.1')) return t.skip('localhost is not 127.0.0.1 here')
  const isAllowedAddress = allowAddresses(['127.0.0.1'])
  const { post, port } = await openReceiver(t, (_, response) => void response.end(), { isAllowedAddress })
  assert.equal((await post(`http://localhost:${port}/`))?.status, 200)
})

test('a receiver that does not listen, and a name that does not exist', async (t) => {
  const { post, port, server } = await openReceiver(t, () => undefined)
  server.close()
  await once(server, 'close')
  // The owner gets the same error for both: a difference would reveal which names and addresses exist.
  for (const [url, detail] of [
    [`http://127.0.0.1:${port}/`, /ECONNREFUSED/],
    // Longer than a label may be: no name server is asked, which could take longer than the poster waits.
    [`http://${'nobody'.repeat(11)}.invalid/`, /nobody\.invalid/],
  ] as const) {
    const answer = await post(url)
    assert.deepEqual(answer, { ...noConnection, detail: answer?.detail })
    assert.match(answer?.detail ?? '', detail)
  }
})

test('one that hangs up, or speaks no HTTP', async (t) => {
  const { post } = await openReceiver(t, (request) => request.socket.destroy())
  assert.ok((await post())?.error)
  const gibberish = await openReceiver(t, (request) => request.socket.end('HELO\r\n\r\n'))
  assert.ok((await gibberish.post())?.error)
  const upgrade = await openReceiver(t, (request) =>
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  )
  assert.ok((await upgrade.post())?.error)
})

test('a connection is used again, and one that was closed meanwhile is no failure', async (t) => {
  const { post, server } = await openReceiver(t, (_, response) => void response.end())
  let connections = 0
  server.on('connection', () => connections++)
  for (let i = 0; i < 3; i++) assert.equal((await post())?.error, null)
  assert.equal(connections, 1)
  server.closeAllConnections()
  assert.equal((await post())?.error, null)
  assert.equal(connections, 2)
})

test('cut off by us, it is no answer at all', async (t) => {
  const cut = new AbortController()
  const { post } = await openReceiver(t, () => cut.abort())
  assert.equal(await post(undefined, cut.signal), undefined)
  assert.equal(await post(undefined, cut.signal), undefined)
})

test('an untrusted certificate is refused', async (t) => {
  const options = { cert: readFileSync(certificates.serverCert), key: readFileSync(certificates.serverKey) }
  let wasReached = false
  const server = createSecureServer(options, () => {
    wasReached = true
  })
  server.on('tlsClientError', () => undefined)
  const port = await listen(t, server)
  const answer = await openPoster(t).post({ url: `https://127.0.0.1:${port}/`, headers: {}, body: '' }, never)
  assert.equal(answer?.status, null)
  assert.match(answer?.error ?? '', /certificate/)
  assert.ok(!wasReached)
})
