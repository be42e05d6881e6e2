// Triggers on one connection: one after the other, in any pieces, and ambiguous HTTP.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { openSharedServer } from '@jobcast/testkit/shared-server'

const api = await openSharedServer()
await api.putJobAndDevices('update', ['d1', 'd2'])
const { hostname, port } = new URL(api.http)

const body = JSON.stringify({ jobName: 'update', deviceIds: ['d1'] })
const trigger = (more: string[] = [], length = String(body.length), sent = body) =>
  [
    'POST /job/api/jobs/execute HTTP/1.1',
    ...['host: x', `x-api-key: ${api.adminKey}`, 'content-type: application/json'],
    ...[`content-length: ${length}`, ...more],
    `\r\n${sent}`,
  ].join('\r\n')
const livez = 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'

const statusesOf = (text: string) => Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => status)

/** One connection; `ask` resolves with the answers so far once there are so many. */
function open() {
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  async function ask(sent: string, answers: number): Promise<string> {
    socket.write(sent)
    while (statusesOf(text).length < answers || !/[\]}]$/.test(text)) await once(socket, 'data')
    return text
  }
  return { socket, ask }
}

/** As if it were the next read: what was written before has been taken by then, or comes together with it. */
const flushed = (socket: Socket, sent: string) => new Promise((resolve) => socket.write(sent, resolve))

test('a connection serves triggers and everything else', async () => {
  const { socket, ask } = open()
  await ask(trigger(), 1)
  await ask(livez, 2)
  const text = await ask(trigger(), 3)
  assert.deepEqual(statusesOf(text), ['201', '200', '201'])
  socket.destroy()
})

test('says how long the connection is kept', async () => {
  const { head } = await sendRaw(api.http, trigger())
  assert.match(head, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72$/)
})

describe('a request may end anywhere in a read', { concurrency: true }, () => {
  const two = trigger() + trigger()
  const middle = two.length / 2
  for (const at of [1, 30, 60, middle - body.length - 1, middle - 3, middle, middle + 1, middle + 200]) {
    test(`at byte ${at} of two requests`, async () => {
      const { socket, ask } = open()
      await flushed(socket, two.slice(0, at))
      const text = await ask(two.slice(at), 2)
      assert.deepEqual(statusesOf(text), ['201', '201'])
      socket.destroy()
    })
  }
})

test('what comes while another is being answered is answered after it', async () => {
  const { socket, ask } = open()
  await ask(trigger(), 1)
  const text = await ask(trigger() + trigger() + livez + trigger(), 5)
  assert.deepEqual(statusesOf(text), ['201', '201', '201', '200', '201'])
  socket.destroy()
})

/** Two servers in a row must not read it differently. */
const doubtful: [title: string, status: number, sent: string][] = [
  ['two lengths', 400, trigger([`content-length: ${body.length}`])],
  ['two different lengths', 400, trigger(['content-length: 1'])],
  ['a length and chunks', 400, trigger(['transfer-encoding: chunked'])],
  ['a length with a sign', 400, trigger([], `+${body.length}`)],
  ['a length with a zero before it', 201, trigger([], `0${body.length}`)],
  ['a length in hexadecimal', 400, trigger([], '0x10')],
  ['a folded header', 400, trigger(['accept: a\r\n b'])],
  ['a space before the colon', 400, trigger(['accept : a'])],
  ['a tab after the colon', 201, trigger(['accept:\ta'])],
  ['a control character in a value', 400, trigger(['accept: a\u0001'])],
  ['a line that ends without \\r', 400, trigger(['accept: a\nx-api-key: b'])],
  ['no host', 400, trigger().replace('host: x\r\n', '')],
  ['two hosts', 400, trigger(['host: y'])],
  ['another version', 201, trigger().replace('HTTP/1.1', 'HTTP/1.0')],
  ['a method in lower case', 400, trigger().replace('POST', 'post')],
  ['a whole URL', 201, trigger().replace('/job', 'http://x/job')],
  ['a query', 201, trigger().replace('execute ', 'execute?a=b ')],
  ['garbage after it', 201, `${trigger()}garbage`],
]
for (const [title, status, sent] of doubtful) {
  test(`is answered with ${status}: ${title}`, async () => {
    assert.equal((await sendRaw(api.http, sent)).status, status)
  })
}
