import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { readShared } from '../../../src/gateway/mqtt/shared-reads.ts'

/** What a server has read from one socket. */
class Reader {
  readonly socket: Socket
  text = ''
  #wake: () => void = () => undefined

  constructor(socket: Socket) {
    this.socket = socket
    const isShared = readShared(socket, (size, buffer) => {
      this.text += buffer.toString('latin1', 0, size)
      this.#wake()
    })
    assert.ok(isShared, 'this Node has other names for what a client sets: devices are read more slowly')
  }

  async has(text: string): Promise<void> {
    while (this.text !== text) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

async function open(t: TestContext) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return async () => {
    const accepted = once(server, 'connection')
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    const [socket] = (await accepted) as [Socket]
    return { client, reader: new Reader(socket) }
  }
}

test('sockets that share a buffer get their own bytes each', async (t) => {
  const add = await open(t)
  const [a, b] = [await add(), await add()]
  let [sentA, sentB] = ['', '']
  for (let round = 0; round < 20; round++) {
    sentA += `a${round}`
    sentB += `b${round}`
    a.client.write(`a${round}`)
    b.client.write(`b${round}`)
    await Promise.all([a.reader.has(sentA), b.reader.has(sentB)])
  }
})

test('a paused socket is not read from, and loses nothing', async (t) => {
  const add = await open(t)
  const [a, b] = [await add(), await add()]
  a.reader.socket.pause()
  a.client.write('early')
  for (let round = 1; round <= 3; round++) {
    b.client.write('.')
    await b.reader.has('.'.repeat(round))
  }
  assert.equal(a.reader.text, '')
  a.reader.socket.resume()
  await a.reader.has('early')
})

test('the end of a connection is seen, also by a socket that was paused', async (t) => {
  const add = await open(t)
  for (const wasPaused of [false, true]) {
    const { client, reader } = await add()
    if (wasPaused) reader.socket.pause()
    const closed = once(reader.socket, 'close')
    client.end('last words')
    if (wasPaused) reader.socket.resume()
    await closed
    assert.equal(reader.text, 'last words')
    // Neither does anything once it is closed.
    reader.socket.pause()
    reader.socket.resume()
  }
})
