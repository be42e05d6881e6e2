// Protocol violations close the connection; in MQTT 5, once signed in, with a reason code.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generate, type IDisconnectPacket, type Packet } from 'mqtt-packet'
import { openListener, prefix } from './listener-under-test.ts'
import { connectPacket, openDevice, openRawDevice, type Version } from './raw-device.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const connect = generate(connectPacket(4))
const publish = {
  cmd: 'publish',
  topic: `${prefix}get`,
  payload: '{}',
  qos: 1,
  dup: false,
  retain: false,
} as const

const beforeConnect: Record<string, Buffer> = {
  'bytes that are not MQTT': Buffer.from('GET / HTTP/1.1\r\n\r\n'),
  'a TLS hello': hex('16 03 01 02 00 01 00 01 fc 03 03'),
  'a PUBLISH before CONNECT': generate({ ...publish, messageId: 1 }),
  'a PINGREQ before CONNECT': hex('c0 00'),
  'a declared length over 4 KiB': hex('10 81 20'),
  'a length that does not end': hex('10 ff ff ff ff'),
  'CONNECT with a flag in its header': Buffer.concat([hex('11'), connect.subarray(1)]),
  'CONNECT with the reserved flag': hex('10 0d 00 04 4d515454 04 03 00 3c 00 01 61'),
  'CONNECT of another protocol': hex('10 0d 00 04 4d515455 04 02 00 3c 00 01 61'),
  'CONNECT without anything': hex('10 00'),
  'CONNECT that ends in its client id': hex('10 0d 00 04 4d515454 04 02 00 3c 00 05 61'),
  'CONNECT with a client id that is not UTF-8': hex('10 0d 00 04 4d515454 04 02 00 3c 00 01 ff'),
  'CONNECT with NUL in its client id': hex('10 0d 00 04 4d515454 04 02 00 3c 00 01 00'),
  'CONNECT with a will of QoS 3': hex('10 13 00 04 4d515454 04 1e 00 3c 00 01 61 00 01 61 00 01 61'),
}
for (const [title, bytes] of Object.entries(beforeConnect)) {
  test(`closes without a word: ${title}`, async (t) => {
    const listener = await openListener(t)
    const device = await openRawDevice(t, listener)
    device.send(bytes)
    assert.deepEqual(await device.packetsUntilClosed(), [])
    await listener.backend.event('device-refused')
    assert.deepEqual(listener.backend.sessions.calls, [])
  })
}

/** What is sent by a device that has signed in, and the reason code in MQTT 5. */
const afterConnect: [string, (version: Version) => Packet | Buffer, number][] = [
  ['a second CONNECT', (version) => connectPacket(version), 0x82],
  ['a declared length over 128 KiB', () => hex('32 81 80 08'), 0x95],
  ['a length that does not end', () => hex('32 80 80 80 80'), 0x81],
  ['PUBLISH with QoS 2', () => ({ ...publish, qos: 2, messageId: 1 }), 0x9b],
  ['PUBLISH with QoS 3', () => hex('36 05 00 01 61 00 01'), 0x81],
  ['PUBLISH with packet id 0', () => ({ ...publish, messageId: 0 }), 0x81],
  ['PUBLISH to a topic with +', () => ({ ...publish, qos: 0, topic: `${prefix}+/get` }), 0x90],
  ['PUBLISH to a topic with #', () => ({ ...publish, qos: 0, topic: `${prefix}#` }), 0x90],
  ['PUBLISH to a topic with NUL', () => ({ ...publish, qos: 0, topic: `${prefix}\0` }), 0x81],
  [
    'PUBLISH to a topic that is not UTF-8',
    (version) => hex(version === 4 ? '30 03 00 01 ff' : '30 04 00 01 ff 00'),
    0x81,
  ],
  ['PUBLISH to no topic', (version) => hex(version === 4 ? '30 02 00 00' : '30 03 00 00 00'), 0x90],
  ['PUBLISH that ends in its topic', () => hex('30 03 00 05 61'), 0x81],
  ['PUBLISH that ends before its packet id', () => hex('32 03 00 01 61'), 0x81],
  ['SUBSCRIBE with packet id 0', () => hex('82 06 00 00 00 01 61 00'), 0x81],
  ['SUBSCRIBE without a filter', (version) => hex(version === 4 ? '82 02 00 01' : '82 03 00 01 00'), 0x82],
  ['SUBSCRIBE with a flag too few', () => hex('80 06 00 01 00 01 61 00'), 0x81],
  [
    'SUBSCRIBE with QoS 3',
    (version) => hex(version === 4 ? '82 06 00 01 00 01 61 03' : '82 07 00 01 00 00 01 61 03'),
    0x81,
  ],
  [
    'SUBSCRIBE with NUL in a filter',
    (version) => hex(version === 4 ? '82 06 00 01 00 01 00 00' : '82 07 00 01 00 00 01 00 00'),
    0x81,
  ],
  ['UNSUBSCRIBE without a filter', (version) => hex(version === 4 ? 'a2 02 00 01' : 'a2 03 00 01 00'), 0x82],
  ['PUBACK with packet id 0', () => hex('40 02 00 00'), 0x81],
  ['PUBACK without a packet id', () => hex('40 00'), 0x81],
  ['PUBREL, which belongs to QoS 2', () => hex('62 02 00 01'), 0x82],
  ['CONNACK, which only a server sends', () => hex('20 02 00 00'), 0x82],
  ['PINGRESP, which only a server sends', () => hex('d0 00'), 0x82],
  ['AUTH', () => hex('f0 00'), 0x82],
  ['a packet of type 0', () => hex('00 00'), 0x81],
]
for (const version of [4, 5] as const) {
  for (const [title, sent, code] of afterConnect) {
    test(`MQTT ${version}: closes for ${title}`, async (t) => {
      const listener = await openListener(t)
      const device = await openDevice(t, listener, version)
      device.send(sent(version))
      const codes = (await device.packetsUntilClosed()).map(
        (packet) => (packet as IDisconnectPacket).reasonCode,
      )
      assert.deepEqual(codes, version === 4 ? [] : [code])
      await listener.backend.event('device-disconnected')
      assert.deepEqual(listener.backend.sessions.calls, ['open', 'leave'])
      assert.deepEqual(listener.backend.reports, [])
    })
  }
}

const onlyInMqtt5: [string, Packet | Buffer, number][] = [
  ['a topic alias', { ...publish, messageId: 1, properties: { topicAlias: 1 } }, 0x94],
  [
    'a subscription identifier',
    {
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: `${prefix}notify`, qos: 1 }],
      properties: { subscriptionIdentifier: 1 },
    },
    0xa1,
  ],
  ['an unknown property', hex('30 06 00 01 61 02 7f 00'), 0x81],
  ['properties that are longer than the packet', hex('30 05 00 01 61 7f 01'), 0x81],
]
for (const [title, sent, code] of onlyInMqtt5) {
  test(`MQTT 5: closes for ${title}`, async (t) => {
    const listener = await openListener(t)
    const device = await openDevice(t, listener, 5)
    device.send(sent)
    assert.deepEqual(
      (await device.packetsUntilClosed()).map((packet) => (packet as IDisconnectPacket).reasonCode),
      [code],
    )
  })
}

test('a device that violates the protocol does not affect packets of another', async (t) => {
  const listener = await openListener(t)
  listener.backend.findDevice = async () => ({ ownerNo: 1, deviceId: 'd1' })
  for (const [, sent] of afterConnect) {
    const bad = await openDevice(t, listener, 5)
    bad.send(sent(5))
    await bad.closed
    const good = await openDevice(t, listener, 5)
    good.send({ cmd: 'pingreq' })
    assert.equal((await good.next())?.cmd, 'pingresp')
    assert.equal((await good.subscribe(`${prefix}notify`))?.cmd, 'suback')
  }
})

test('requests begun before the violation are finished; none is begun after it', async (t) => {
  const listener = await openListener(t)
  const device = await openDevice(t, listener, 5)
  const begun = Promise.withResolvers<{ kind: 'nothing-pending' }>()
  listener.backend.recordReport = () => begun.promise
  device.publish(`${prefix}start-next`, {}, 1)
  device.publish(`${prefix}start-next`, {}, 2)
  device.send(connectPacket(5))
  assert.deepEqual(
    (await device.packetsUntilClosed()).map(({ cmd }) => cmd),
    ['disconnect'],
  )
  begun.resolve({ kind: 'nothing-pending' })
  await listener.stop()
  assert.equal(listener.backend.reports.length, 1)
})
