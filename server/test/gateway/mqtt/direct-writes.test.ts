import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { directWrites } from '../../../src/gateway/mqtt/direct-writes.ts'

/** More than the system keeps for a connection whose other end reads nothing. */
const tooMuch = 'a'.repeat(32 * 1024 * 1024)

async function open(t: TestContext) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const accepted = once(server, 'connection')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  client.pause()
  const [socket] = (await accepted) as [Socket]
  t.after(() => socket.destroy())
  const writeNow = directWrites(socket)
  assert.ok(writeNow, 'this Node writes in another way: devices are notified more slowly')
  return { client, socket, write: (text: string) => writeNow.call(socket, text) }
}

async function readAll(client: Socket): Promise<string> {
  const chunks: Buffer[] = []
  client.on('data', (chunk) => chunks.push(chunk)).resume()
  await once(client, 'end')
  return Buffer.concat(chunks).toString('latin1')
}

test('each character is a byte, and nothing waits when the system takes it all', async (t) => {
  const { client, socket, write } = await open(t)
  const bytes = String.fromCharCode(...Array(256).keys())
  assert.equal(write(bytes), 0)
  assert.equal(write('.'), 0)
  socket.end('!')
  assert.equal(await readAll(client), `${bytes}.!`)
})

test('what the system does not take at once waits, in order with what the stream writes, and drains', async (t) => {
  const { client, socket, write } = await open(t)
  const waiting = write(tooMuch)
  assert.ok(waiting && waiting > 0 && waiting < tooMuch.length)
  assert.equal(write('too early'), undefined)
  const drained = once(socket, 'drain')
  const sent = new Promise((resolve) => socket.write('second', resolve))
  const all = readAll(client)
  await Promise.all([drained, sent])
  assert.equal(write('third'), 0)
  socket.end()
  assert.ok((await all) === `${tooMuch}secondthird`)
})

test('while the stream has something to send, it is not overtaken', async (t) => {
  const { client, socket, write } = await open(t)
  socket.cork()
  socket.write('first')
  assert.equal(write('second'), undefined)
  socket.uncork()
  assert.equal(write('second'), 0)
  socket.write(tooMuch, 'latin1')
  assert.equal(write('third'), undefined)
  socket.end()
  assert.equal(write('third'), undefined)
  assert.ok((await readAll(client)) === `firstsecond${tooMuch}`)
})

test('a connection that goes away while something waits is closed', async (t) => {
  for (const end of ['client', 'socket'] as const) {
    const both = await open(t)
    assert.notEqual(both.write(tooMuch), 0)
    for (const each of [both.socket, both.client]) each.on('error', () => undefined)
    const closed = new Promise((resolve) => both.socket.once('close', resolve))
    both[end].destroy()
    await closed
    assert.equal(both.write('.'), undefined)
  }
})
