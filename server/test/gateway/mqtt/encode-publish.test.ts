import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generate } from 'mqtt-packet'
import { asRepeated, encodePublish } from '../../../src/gateway/mqtt/encode-publish.ts'

const packetId = 300

function encode(version: 4 | 5, topic: string, payload: string, qos: 0 | 1, traceParent?: string) {
  const text = encodePublish(version, topic, payload, qos, packetId, traceParent)
  return text === undefined ? undefined : Buffer.from(text, 'latin1')
}

for (const version of [4, 5] as const) {
  for (const qos of [0, 1] as const) {
    test(`MQTT ${version}, QoS ${qos}: the same bytes as mqtt-packet makes`, () => {
      for (const size of [0, 1, 100, 127, 128, 16_370, 16_384, 2_097_152]) {
        for (const topic of ['a', '$aws/things/Köln/jobs/notify', 'a'.repeat(0xffff)]) {
          const payload = 'ä'.repeat(size / 2) + 'a'.repeat(size % 2)
          const packet = {
            cmd: 'publish',
            topic,
            payload,
            qos,
            messageId: packetId,
            dup: false,
            retain: false,
          } as const
          const expected = generate(packet, { protocolVersion: version })
          assert.ok(encode(version, topic, payload, qos)?.equals(expected))
        }
      }
    })
  }
}

test('a repeated packet has the flag DUP, and is otherwise the same', () => {
  const packet = { cmd: 'publish', topic: 'a', payload: 'ä', qos: 1, messageId: packetId } as const
  const text = encodePublish(5, 'a', 'ä', 1, packetId)
  const expected = generate({ ...packet, dup: true, retain: false }, { protocolVersion: 5 })
  assert.ok(Buffer.from(asRepeated(text ?? ''), 'latin1').equals(expected))
})

test('with MQTT 5 the trace is a user property, as mqtt-packet makes it; MQTT 3 has none', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const packet = { cmd: 'publish', topic: 'a', payload: '{}', qos: 1, messageId: packetId } as const
  const flags = { dup: false, retain: false, properties: { userProperties: { traceparent } } }
  const expected = generate({ ...packet, ...flags }, { protocolVersion: 5 })
  assert.ok(encode(5, 'a', '{}', 1, traceparent)?.equals(expected))
  assert.deepEqual(encode(4, 'a', '{}', 1, traceparent), encode(4, 'a', '{}', 1))
})

test('a topic that is too long cannot be sent', () => {
  assert.equal(encodePublish(4, 'a'.repeat(0x10000), '', 0, 0), undefined)
})
