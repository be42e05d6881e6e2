// Requests that no well-behaved client sends: each gets exactly one answer, and the connection is closed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RawReply, sendRaw } from '@jobcast/testkit/raw-http'
import { rawRequest } from '@jobcast/testkit/raw-request'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const maxDevices = 3
const maxBodyBytes = 1024 * 1024 + maxDevices * 520
const api = await openSharedServer({ maxDevices })
await api.putJobAndDevices('update', ['d1'])
const { adminKey } = api
const body = '{"jobName":"update","deviceIds":["d1"]}'
const chunked = ['Content-Length', 'Transfer-Encoding: chunked']

/** Keeps the connection open, so that only the server closes it. */
const request = (headers: string[], content: string | Buffer = body, key = adminKey) =>
  rawRequest(key, { headers: ['Connection', ...headers], body: content })

function assertOneAnswerThenClosed(reply: RawReply): void {
  assert.equal(reply.text.match(/HTTP\/1\.1 \d{3} /g)?.length, 1, reply.text)
  assert.match(reply.head, /^connection: close$/im)
  assert.ok(reply.closed)
}

const good = request([]).toString('latin1')
const malformed: Record<string, string | Buffer> = {
  'Content-Length twice': request(['Content-Length: 39', 'Content-Length: 0']),
  'Content-Length twice alike': request(['Content-Length: 39', 'Content-Length: 39']),
  'two Content-Lengths in one': request(['Content-Length: 39, 39']),
  'Content-Length with Transfer-Encoding': request(['Content-Length: 5', 'Transfer-Encoding: chunked']),
  'Transfer-Encoding with Content-Length': request(['Transfer-Encoding: chunked', 'Content-Length: 5']),
  'a negative Content-Length': request(['Content-Length: -1']),
  'a Content-Length with a sign': request(['Content-Length: +39']),
  'a Content-Length in hex': request(['Content-Length: 0x27']),
  'a Content-Length beyond 64 bits': request(['Content-Length: 18446744073709551617']),
  'an unknown Transfer-Encoding': request(['Content-Length', 'Transfer-Encoding: xchunked']),
  'chunked before another encoding': request(['Content-Length', 'Transfer-Encoding: chunked, gzip']),
  'a chunk size that is no number': request(chunked, 'zz\r\n{}\r\n0\r\n\r\n'),
  'a negative chunk size': request(chunked, '-1\r\n{}\r\n0\r\n\r\n'),
  'bare LF throughout': good.replaceAll('\r\n', '\n'),
  'bare LF after one header': good.replace('localhost\r\n', 'localhost\n'),
  'bare CR after one header': good.replace('localhost\r\n', 'localhost\r'),
  'a space before the colon': request(['Content-Length : 39']),
  'a folded header': request(['X-Folded: a\r\n b']),
  'NUL in a header': request(['X-Nul: a\0b']),
  'no Host': request(['Host']),
  'two Hosts': request(['Host: localhost', 'Host: elsewhere']),
  'a method in lower case': good.replace('POST', 'post'),
  'an unknown method': good.replace('POST', 'LAUNCH'),
  'an unknown version': good.replace('HTTP/1.1', 'HTTP/3.7'),
  'no version': good.replace(' HTTP/1.1', ''),
  'bytes that are no HTTP': Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
}
for (const [title, sent] of Object.entries(malformed)) {
  test(`answers J-907 once to ${title}, and does not run the request after it`, async () => {
    const reply = await sendRaw(api.http, Buffer.concat([Buffer.from(sent), Buffer.from(good)]))
    assertOneAnswerThenClosed(reply)
    assertRefused(reply, 'J-907')
  })
}

const manyHeaders = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: a`)
const longLine = `POST /job/api/jobs/execute?${'a'.repeat(8192)} HTTP/1.1`
const tooMuch: Record<string, Buffer> = {
  'a header of 8 KiB': request([`X-Long: ${'a'.repeat(8192)}`]),
  '60 headers of 8 KiB together': request(manyHeaders(60).map((header) => header + 'a'.repeat(140))),
  '3 MB of headers': request([`X-Long: ${'a'.repeat(3_000_000)}`]),
  'an address of 8 KiB': rawRequest(adminKey, { line: longLine, headers: ['Connection'], body }),
  '64 headers': request(manyHeaders(60)),
  '64 headers and no key': request(['X-API-Key', ...manyHeaders(61)]),
}
for (const [title, sent] of Object.entries(tooMuch)) {
  test(`answers J-906 once to ${title}, and does not run the request after it`, async () => {
    const reply = await sendRaw(api.http, Buffer.concat([sent, Buffer.from(good)]))
    assertOneAnswerThenClosed(reply)
    assertRefused(reply, 'J-906')
  })
}

test('takes 63 headers', async () => {
  const reply = await sendRaw(
    api.http,
    rawRequest(adminKey, { headers: manyHeaders(58), body: '{"jobName":"nowhere","deviceIds":["d1"]}' }),
  )
  assertRefused(reply, 'J-301')
})

test('answers J-904 by Content-Length, before anything of the body was sent', async () => {
  const reply = await sendRaw(api.http, request([`Content-Length: ${maxBodyBytes + 1}`], ''))
  assertOneAnswerThenClosed(reply)
  assertRefused(reply, 'J-904')
})

test('answers J-904 while it reads chunks, before their end', async () => {
  const chunk = `${(maxBodyBytes + 1).toString(16)}\r\n${' '.repeat(maxBodyBytes + 1)}\r\n`
  const reply = await sendRaw(api.http, request(chunked, chunk))
  assertOneAnswerThenClosed(reply)
  assertRefused(reply, 'J-904')
})

test('reads a body of exactly the limit', async () => {
  const nowhere = '{"jobName":"nowhere","deviceIds":["d1"]}'
  const reply = await sendRaw(api.http, rawRequest(adminKey, { body: nowhere.padEnd(maxBodyBytes) }))
  assertRefused(reply, 'J-301')
})

const noScope = (await api.newKey([])).apiKey
const large = ' '.repeat(8 * 1024 * 1024)
const unread: Record<string, { sent: Buffer; code: 'J-802' | 'J-804' | 'J-901' | 'J-902' | 'J-904' }> = {
  'with a bad key': { sent: request([], large, 'jc_bad'), code: 'J-802' },
  'without a key, chunked': {
    sent: request(['X-API-Key', ...chunked], `800000\r\n${large}\r\n0\r\n\r\n`),
    code: 'J-802',
  },
  'without the scope': { sent: request([], large, noScope), code: 'J-804' },
  'over the limit': { sent: request([], large), code: 'J-904' },
  'to an unknown route': {
    sent: rawRequest(adminKey, { line: 'POST /job/api/x HTTP/1.1', headers: ['Connection'], body: large }),
    code: 'J-901',
  },
  'with another method': {
    sent: rawRequest(adminKey, {
      line: 'PUT /job/api/jobs/execute HTTP/1.1',
      headers: ['Connection'],
      body: large,
    }),
    code: 'J-902',
  },
}
for (const [title, { sent, code }] of Object.entries(unread)) {
  test(`sends a complete ${code} for 8 MB ${title} without reading them, and closes`, async () => {
    const reply = await sendRaw(api.http, sent)
    assertOneAnswerThenClosed(reply)
    if (code === 'J-804') assertRefused(reply, code, 'TRIGGER')
    else assertRefused(reply, code)
  })
}

test('has created nothing, counts no internal error, and still responds', async () => {
  assert.deepEqual((await api.call('GET', '/job/api/executions')).json.items, [])
  assert.match((await api.call('GET', '/metrics')).text, /^jobcast_http_failures_total 0$/m)
  assert.equal((await api.trigger('update', ['d1'])).status, 201)
})

for (const [title, rest] of Object.entries({ 'one byte': 'x', 'a line': 'garbage\r\n\r\n' })) {
  test(`a complete request followed by ${title} of garbage gets its own 201 and nothing else`, async () => {
    const before = (await api.call('GET', '/job/api/executions')).json.items.length
    const reply = await sendRaw(api.http, Buffer.concat([request([]), Buffer.from(rest)]))
    assertOneAnswerThenClosed(reply)
    assert.equal(reply.status, 201)
    const after = (await api.call('GET', '/job/api/executions')).json.items.length
    assert.equal(after - before, 1)
  })
}
