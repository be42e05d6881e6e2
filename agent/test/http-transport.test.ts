import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AgentEvent } from '../src/events.ts'
import { AnswerTooLong, HttpCaller, maxAnswerBytes } from '../src/transport/http-call.ts'
import { HttpTransport } from '../src/transport/http-transport.ts'
import { NoAnswer } from '../src/transport/transport.ts'

type Reply = { status: number; body: string; errorType?: string; location?: string }

/** A transport whose server sends one response to all requests. */
async function openTransport(t: TestContext, reply: Reply) {
  const server = createServer((_request, response) => {
    if (reply.errorType) response.setHeader('x-amzn-errortype', reply.errorType)
    if (reply.location) response.setHeader('location', reply.location)
    response.writeHead(reply.status).end(reply.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  const events: AgentEvent[] = []
  const transport = new HttpTransport({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deviceId: 'kiosk/1',
    readToken: () => 'jd_secret',
    backoff: { baseMs: 1, capMs: 1 },
    tell: (event) => events.push(event),
  })
  t.after(() => transport.stop())
  return { transport, events, server }
}

const gone: Reply = { status: 404, body: '{"message":"none"}', errorType: 'ResourceNotFoundException' }
const update = { name: 'update', jobId: '7' } as const

test('rejections of the server have the code of the protocol', async (t) => {
  const { transport } = await openTransport(t, gone)
  const answer = await transport.request(update, {})
  assert.deepEqual(answer.outcome === 'rejected' && [answer.code, answer.message], [
    'ResourceNotFound',
    'none',
  ])
  const gap = {
    status: 409,
    body: '{"code":"InvalidRequest","offset":5}',
    errorType: 'OffsetMismatchException',
  }
  const output = await (await openTransport(t, gap)).transport.request({ name: 'output', jobId: '7' }, {})
  assert.deepEqual([output.outcome, output.json.offset], ['rejected', 5])
})

const nobodysAnswers: [string, Reply][] = [
  ["a proxy's 404", { status: 404, body: '<html>not here</html>' }],
  ["a proxy's 404 in JSON", { status: 404, body: '{"message":"no route"}' }],
  ['a 502', { status: 502, body: 'bad gateway' }],
  ['a 503 of the server', { status: 503, body: '{}', errorType: 'ServiceUnavailableException' }],
  ['a page of a captive portal', { status: 200, body: '<html>please log in</html>' }],
  [
    'a redirect, which would take the token elsewhere',
    { status: 302, body: '', location: 'http://127.0.0.1:1/' },
  ],
  ['more than the agent reads', { status: 200, body: `{"a":"${'x'.repeat(maxAnswerBytes)}"}` }],
  ['a token that is not good', { status: 401, body: '{}', errorType: 'UnauthorizedException' }],
]

for (const [name, reply] of nobodysAnswers) {
  test(`${name} is treated as no response`, async (t) => {
    const { transport, events } = await openTransport(t, reply)
    await assert.rejects(transport.request(update, {}), NoAnswer)
    assert.deepEqual(
      events.map(({ kind }) => kind),
      [reply.status === 401 ? 'sign-in-refused' : 'no-connection'],
    )
    assert.doesNotMatch(JSON.stringify(events), /secret/)
  })
}

test('an endless response is read up to the limit', async (t) => {
  let written = 0
  const server = createServer((_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384
      response.once('drain', write)
    }
    write()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caller = new HttpCaller(url)
  t.after(() => caller.close())
  const call = caller.call({ method: 'GET', url, headers: {}, signal: AbortSignal.timeout(60_000) })
  await assert.rejects(call, AnswerTooLong)
  // The rest is in buffers of the system.
  assert.ok(written < 20 * maxAnswerBytes, String(written))
})

test('a keep-alive connection closed by the server causes no failure', async (t) => {
  const { transport, events, server } = await openTransport(t, { status: 200, body: '{}' })
  for (let count = 0; count < 20; count++) {
    assert.equal((await transport.request(update, {})).outcome, 'accepted')
    server.closeIdleConnections()
  }
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['connected'],
  )
})
