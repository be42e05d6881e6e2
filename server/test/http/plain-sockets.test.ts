// Connections on which nothing but plain triggers comes are not Node's; with anything else they become so, at any byte.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
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

test('a connection is one whoever reads from it', async (t) => {
  let nodes = 0
  const note = () => {
    nodes++
  }
  subscribe('http.server.request.start', note)
  t.after(() => unsubscribe('http.server.request.start', note))
  const { socket, ask } = open()
  await ask(trigger(), 1)
  await ask(trigger(), 2)
  assert.equal(nodes, 0, 'Node has read it')
  await ask(livez, 3)
  const text = await ask(trigger(), 4)
  assert.deepEqual(statusesOf(text), ['201', '201', '200', '201'])
  socket.destroy()
})

test('says of the connection what Node says', async () => {
  const ofConnection = ({ head }: { head: string }) =>
    head
      .split('\r\n')
      .filter((line) => /^(?:date|connection|keep-alive):/i.test(line))
      .map((line) => line.replace(/^(Date): \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, '$1'))
  const [ours, nodes] = [await sendRaw(api.http, trigger()), await sendRaw(api.http, trigger(['x-other: 1']))]
  assert.deepEqual(ofConnection(ours), ['Date', 'Connection: keep-alive', 'Keep-Alive: timeout=72'])
  assert.deepEqual(ofConnection(ours), ofConnection(nodes))
})

test('the order of headers is that of a plain trigger which Node has read', async () => {
  const namesOf = ({ head }: { head: string }) => head.split('\r\n').map((line) => line.split(':')[0])
  const sent = trigger()
  const { socket, ask } = open()
  await flushed(socket, sent.slice(0, 60))
  const pieces = await ask(sent.slice(60), 1)
  socket.destroy()
  const [head = ''] = pieces.split('\r\n\r\n')
  assert.deepEqual(namesOf(await sendRaw(api.http, sent)), namesOf({ head }))
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

test('whoever ends its side is answered still, and the connection closed', async () => {
  for (const sent of [trigger(), trigger([], '5'), trigger().replace(api.adminKey, 'nobody')]) {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.end(sent)
    await once(socket, 'end')
    assert.match(text, /^HTTP\/1\.1 (?:201|400|403)/)
    socket.destroy()
  }
})

/** Each must be answered as it would be with a header that makes it Node's from the start. */
const doubtful: [string, string][] = [
  ['two lengths', trigger([`content-length: ${body.length}`])],
  ['two different lengths', trigger(['content-length: 1'])],
  ['a length and chunks', trigger(['transfer-encoding: chunked'])],
  ['a length with a sign', trigger([], `+${body.length}`)],
  ['a length with a zero before it', trigger([], `0${body.length}`)],
  ['a length in hexadecimal', trigger([], '0x10')],
  ['a folded header', trigger(['accept: a\r\n b'])],
  ['a space before the colon', trigger(['accept : a'])],
  ['a tab after the colon', trigger(['accept:\ta'])],
  ['a control character in a value', trigger(['accept: a\u0001'])],
  ['a line that ends without \\r', trigger(['accept: a\nx-api-key: b'])],
  ['no host', trigger().replace('host: x\r\n', '')],
  ['two hosts', trigger(['host: y'])],
  ['another version', trigger().replace('HTTP/1.1', 'HTTP/1.0')],
  ['a method in lower case', trigger().replace('POST', 'post')],
  ['a whole URL', trigger().replace('/job', 'http://x/job')],
  ['a query', trigger().replace('execute ', 'execute?a=b ')],
  ['garbage after it', `${trigger()}garbage`],
]
for (const [title, sent] of doubtful) {
  test(`in doubt it is Node's: ${title}`, async () => {
    const marked = sent
      .replace('host: x', 'x-other: 1\r\nhost: x')
      .replace('\r\nx-api', '\r\nx-more: 1\r\nx-api')
    const { status, closed } = await sendRaw(api.http, sent)
    assert.deepEqual({ status, closed }, pick(await sendRaw(api.http, marked)))
  })
}

const pick = ({ status, closed }: { status: number; closed: boolean }) => ({ status, closed })
