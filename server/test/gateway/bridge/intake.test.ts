// Messages that come faster than they are served: the broker waits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { connectAsync } from 'mqtt'
import { BrokerLink, type Incoming } from '../../../src/gateway/bridge/broker-link.ts'
import { Intake } from '../../../src/gateway/bridge/intake.ts'
import { bridgeTo } from './bridge-under-test.ts'

test('the next message comes when there is room by number and by size', () => {
  const intake = new Intake({ messages: 2, bytes: 100 })
  let read = 0
  const readOne = () => {
    read++
  }
  const small = intake.add(10)
  intake.whenRoom(readOne)
  assert.equal(read, 1)
  const large = intake.add(150)
  intake.whenRoom(readOne)
  small()
  small()
  assert.equal(read, 1, 'too many bytes')
  large()
  assert.equal(read, 2)
  const [first] = [intake.add(1), intake.add(1)]
  intake.whenRoom(readOne)
  assert.equal(read, 2, 'too many messages')
  first()
  assert.equal(read, 3)
})

test('of QoS 0 no more is read than 2000 that are not served', { skip: withoutMosquitto }, async (t) => {
  const broker = await openMosquitto(t, { settings: ['max_queued_messages 0'] })
  const waiting: Incoming[] = []
  const link = new BrokerLink({
    settings: bridgeTo(broker.url),
    elapsed: () => performance.now(),
    receive: (message) => waiting.push(message),
    onUp: () => undefined,
    onLost: () => undefined,
    onError: () => undefined,
    onRoom: () => undefined,
  })
  t.after(() => link.stop())
  link.start()
  await waitUntil('it is connected', () => link.isUp)
  const device = await connectAsync(broker.url)
  t.after(() => void device.end(true))
  const topic = '$aws/things/d1/jobs/get'
  await device.subscribeAsync(topic)
  let heard = 0
  device.on('message', () => heard++)
  const all = 2200
  for (let each = 0; each < all; each++) device.publish(topic, '{}')
  await waitUntil('the broker has delivered them', () => heard === all && link.received >= 2000)
  assert.equal(link.received, 2000)
  await waitUntil('all came', () => {
    for (const message of waiting.splice(0)) message.acknowledge()
    return link.received === all
  })
})
