// MQTT over WebSocket, on the port of the HTTP API.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { generate, type Packet, parser } from 'mqtt-packet'
import { WebSocket } from 'ws'
import { deviceId, type ListenerUnderTest, openListener, prefix } from './listener-under-test.ts'
import { connectPacket } from './raw-device.ts'

class WebSocketDevice {
  readonly socket: WebSocket
  readonly #received: Packet[] = []
  #wake = () => {}

  constructor(socket: WebSocket) {
    this.socket = socket
    const parsing = parser()
    parsing.on('packet', (packet) => {
      this.#received.push(packet)
      this.#wake()
    })
    socket.on('message', (data: Buffer) => parsing.parse(data))
  }

  async next(): Promise<string> {
    while (this.#received.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return (this.#received.shift() as Packet).cmd
  }
}

async function openWebSocket(
  t: TestContext,
  listener: ListenerUnderTest,
  path = '/mqtt',
  protocols = ['mqtt'],
) {
  const socket = new WebSocket(`ws://127.0.0.1:${listener.httpPort}${path}`, protocols)
  socket.on('error', () => undefined)
  t.after(() => socket.terminate())
  await once(socket, 'open')
  return socket
}

const connect = (listener: ListenerUnderTest) =>
  generate(connectPacket(4, { username: deviceId, password: Buffer.from(listener.backend.token.text) }))

test('a device connects over WebSocket, with packets split over any frames', async (t) => {
  const listener = await openListener(t)
  const device = new WebSocketDevice(await openWebSocket(t, listener, '/mqtt?x=1', ['x', 'mqtt']))
  assert.equal(device.socket.protocol, 'mqtt')
  const bytes = connect(listener)
  for (const byte of bytes.subarray(0, 10)) device.socket.send(Buffer.from([byte]))
  device.socket.send(Buffer.concat([bytes.subarray(10), generate({ cmd: 'pingreq' })]))
  assert.equal(await device.next(), 'connack')
  assert.equal(await device.next(), 'pingresp')
  assert.equal(listener.backend.session.transport, 'websocket')
  const topic = `${prefix}get`
  const subscriptions = [{ topic: `${topic}/accepted`, qos: 0 as const }]
  device.socket.send(generate({ cmd: 'subscribe', messageId: 1, subscriptions }))
  device.socket.send(generate({ cmd: 'publish', topic, payload: '{}', qos: 0, dup: false, retain: false }))
  assert.deepEqual([await device.next(), await device.next()], ['suback', 'publish'])
  device.socket.close()
  assert.equal((await listener.backend.event('device-disconnected')).reason, 'connection-lost')
})

test('responds with the requested subprotocol, `mqtt` if there are several', async (t) => {
  const listener = await openListener(t)
  assert.equal((await openWebSocket(t, listener, '/mqtt', ['mqttv3.1'])).protocol, 'mqttv3.1')
  assert.equal((await openWebSocket(t, listener, '/mqtt', ['mqttv3.1', 'mqtt'])).protocol, 'mqtt')
})

test('a frame of text is refused with 1003', async (t) => {
  const listener = await openListener(t)
  const socket = await openWebSocket(t, listener)
  socket.send('hello')
  const [code] = await once(socket, 'close')
  assert.equal(code, 1003)
  await listener.backend.event('device-refused')
})

test('a frame over 128 KiB is refused with 1009', async (t) => {
  const socket = await openWebSocket(t, await openListener(t))
  socket.send(Buffer.alloc(128 * 1024 + 6, 0x10))
  const [code] = await once(socket, 'close')
  assert.equal(code, 1009)
})

const refused: [string, string, string[], number][] = [
  ['another path', '/mqtt/', ['mqtt'], 404],
  ['the path of the API', '/job/api/jobs', ['mqtt'], 404],
  ['no subprotocol', '/mqtt', [], 400],
  ['another subprotocol', '/mqtt', ['amqp'], 400],
]
for (const [title, path, protocols, status] of refused) {
  test(`answers ${title} with ${status}`, async (t) => {
    const listener = await openListener(t)
    const socket = new WebSocket(`ws://127.0.0.1:${listener.httpPort}${path}`, protocols)
    socket.on('error', () => undefined)
    const [, response] = await once(socket, 'unexpected-response')
    assert.equal(response.statusCode, status)
    socket.terminate()
  })
}

test('stop closes WebSockets, and no longer handles upgrades', async (t) => {
  const listener = await openListener(t)
  const silent = await openWebSocket(t, listener)
  const device = new WebSocketDevice(await openWebSocket(t, listener))
  device.socket.send(connect(listener))
  assert.equal(await device.next(), 'connack')
  const closed = Promise.all([once(silent, 'close'), once(device.socket, 'close')])
  await listener.stop()
  await closed
  assert.equal((await listener.backend.event('device-disconnected')).reason, 'stopping')
})
