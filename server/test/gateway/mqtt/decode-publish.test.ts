// Packets decoded by hand are equal to those of mqtt-packet, and packets left to mqtt-packet are refused by it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { generate, type IPublishPacket, parser } from 'mqtt-packet'
import { decodePublish } from '../../../src/gateway/mqtt/decode-publish.ts'
import { encodePacket, encodePuback, parsePacket } from '../../../src/gateway/mqtt/packets.ts'
import type { ProtocolVersion } from '../../../src/gateway/mqtt/reason.ts'

function byMqttPacket(protocolVersion: ProtocolVersion, frame: Buffer): IPublishPacket | undefined {
  const parsing = parser({ protocolVersion })
  let parsed: IPublishPacket | undefined
  parsing.on('packet', (packet) => {
    if (packet.cmd === 'publish') parsed = packet
  })
  parsing.on('error', () => undefined)
  try {
    return parsing.parse(frame) === 0 ? parsed : undefined
  } catch {
    return undefined
  }
}

/** One whole packet, as the splitter hands it over: its length is right, whatever else is not. */
function reframed(firstByte: number, body: Buffer): Buffer {
  const header = [firstByte]
  for (let rest = body.length; ; rest >>= 7) {
    header.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest)
    if (rest <= 0x7f) return Buffer.concat([Buffer.from(header), body])
  }
}

for (const version of [4, 5] as const) {
  test(`MQTT ${version}: sizes, QoS and flags`, () => {
    for (const size of [0, 1, 100, 127, 128, 16_370, 16_384, 100_000]) {
      for (const topic of ['a', '$aws/things/Köln/jobs/12/update', 'a'.repeat(0xffff)]) {
        for (const qos of [0, 1] as const) {
          for (const dup of [false, qos === 1]) {
            const packet = {
              cmd: 'publish',
              topic,
              payload: 'a'.repeat(size),
              qos,
              dup,
              retain: dup,
            } as const
            const frame = generate({ ...packet, messageId: 0x1234 }, { protocolVersion: version })
            const decoded = decodePublish(version, frame)
            const expected = byMqttPacket(version, frame)
            assert.equal(decoded?.topic, topic)
            assert.equal(decoded.qos, qos)
            assert.equal(decoded.messageId, qos === 0 ? undefined : 0x1234)
            assert.equal(decoded.length, expected?.length)
            assert.deepEqual(decoded.payload, expected?.payload)
          }
        }
      }
    }
  })

  test(`MQTT ${version}: both decoders agree on any bytes (seed ${testSeed})`, () => {
    const random = seededRandom(testSeed)
    let decodedOnes = 0
    for (let round = 0; round < 20_000; round++) {
      const topic = random.pick(['a', 'ä/b', '$aws/things/d1/jobs/1/update'])
      const properties = random.chance(0.3) ? { userProperties: { a: 'b' } } : {}
      const qos = random.pick([0, 1] as const)
      const packet = { cmd: 'publish', topic, payload: '{"a":1}', qos, dup: false, retain: false } as const
      const whole = generate({ ...packet, messageId: 7, properties }, { protocolVersion: version })
      const body = Buffer.from(whole.subarray(2))
      for (let changes = random.below(3); changes > 0; changes--)
        body[random.below(body.length)] = random.below(256)
      const cut = random.chance(0.3) ? body.subarray(0, random.below(body.length)) : body
      const frame = reframed(0x30 | random.pick([0, 1, 2, 3, 10]), cut)
      const decoded = decodePublish(version, frame)
      if (decoded === undefined) continue
      decodedOnes++
      const expected = byMqttPacket(version, frame)
      assert.deepEqual(
        { ...decoded, messageId: decoded.messageId },
        {
          cmd: 'publish',
          topic: expected?.topic,
          payload: expected?.payload,
          qos: expected?.qos,
          messageId: expected?.messageId,
          length: expected?.length,
        },
        frame.toString('hex'),
      )
    }
    assert.ok(decodedOnes > 5000)
  })
}

test('MQTT 5: properties are left to mqtt-packet, and a topic alias is refused', () => {
  const packet = { cmd: 'publish', topic: 'a', payload: '', qos: 0, dup: false, retain: false } as const
  const options = { protocolVersion: 5 }
  const traced = generate({ ...packet, properties: { userProperties: { a: 'b' } } }, options)
  assert.equal(decodePublish(5, traced), undefined)
  assert.equal((parsePacket(5, traced) as { topic: string }).topic, 'a')
  const aliased = generate({ ...packet, properties: { topicAlias: 1 } }, options)
  assert.throws(() => parsePacket(5, aliased), { reason: 'topic-alias' })
})

test('an acknowledgement of success has the bytes that mqtt-packet makes, in both versions', () => {
  for (const messageId of [1, 255, 256, 0xffff]) {
    for (const version of [4, 5] as const) {
      const expected = encodePacket(version, { cmd: 'puback', messageId, reasonCode: 0 })
      assert.deepEqual(Buffer.from(encodePuback(messageId), 'latin1'), expected)
    }
  }
})
