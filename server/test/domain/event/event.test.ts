import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StoredEvent, toWireEvent } from '../../../src/domain/event/event.ts'

test('an event stored when the field was still named door is sent with transport', () => {
  const data = { deviceId: 'd1', door: 'mqtt' } as StoredEvent['data']
  const event = toWireEvent({ eventId: 7, type: 'device.online', at: 0, data })
  assert.deepEqual(event.data, { deviceId: 'd1', transport: 'mqtt' })
})

test('an event that names its transport is sent unchanged', () => {
  const data = { deviceId: 'd1', transport: 'http' }
  assert.deepEqual(toWireEvent({ eventId: 7, type: 'device.online', at: 0, data }).data, data)
})
