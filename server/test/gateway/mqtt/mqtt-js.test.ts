// The same listener for a client that is not ours: mqtt.js, over TCP, TLS and WebSocket.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { certificates } from '@jobcast/testkit/certificates'
import { connectAsync, type MqttClient } from 'mqtt'
import { deviceId, openListener, prefix, queueOf } from './listener-under-test.ts'

const pem = (name: keyof typeof certificates) => readFileSync(certificates[name], 'utf8')
const tls = { cert: pem('serverCert'), key: pem('serverKey'), deviceCa: undefined }

for (const protocolVersion of [3, 4, 5] as const) {
  for (const way of ['mqtt', 'mqtts', 'ws']) {
    test(`mqtt.js with MQTT ${protocolVersion} over ${way} asks, and is told`, async (t) => {
      const listener = await openListener(t, way === 'mqtts' ? { tls } : {})
      const address = way === 'ws' ? `ws://127.0.0.1:${listener.httpPort}/mqtt` : listener.address
      const client = await connectAsync(address, {
        protocolVersion,
        ...(protocolVersion === 3 && { protocolId: 'MQIsdp' as const }),
        username: deviceId,
        password: listener.backend.token.text,
        ca: pem('ca'),
        reconnectPeriod: 0,
      })
      t.after(() => client.end(true))
      const granted = await client.subscribeAsync(`${prefix}#`, { qos: 1 })
      assert.deepEqual(
        granted.map(({ qos }) => qos),
        [1],
      )

      const answered = nextMessage(client)
      await client.publishAsync(`${prefix}get`, '{"clientToken":"c"}', { qos: 1 })
      const [topic, payload] = await answered
      assert.equal(topic, `${prefix}get/accepted`)
      assert.equal(JSON.parse(payload.toString()).clientToken, 'c')

      const told = nextMessage(client)
      listener.backend.session.send({ kind: 'list', queue: queueOf(12) }, [12])
      assert.equal((await told)[0], `${prefix}notify`)
      await client.unsubscribeAsync(`${prefix}#`)
      assert.deepEqual(listener.backend.sessions.confirmed, [12])

      await client.endAsync()
      assert.equal((await listener.backend.event('device-disconnected')).reason, 'disconnected')
    })
  }
}

function nextMessage(client: MqttClient): Promise<[string, Buffer]> {
  return new Promise((resolve) => client.once('message', (topic, payload) => resolve([topic, payload])))
}
