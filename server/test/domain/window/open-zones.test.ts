import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceZoneOf, zoneAsWritten, zoneOf } from '../../../src/domain/window/device-zone.ts'
import { isOpenIn, newlyOpen, openEverywhere, writeOpenZones } from '../../../src/domain/window/open-zones.ts'

test('a window is open in the zones of its text, or everywhere', () => {
  const some = writeOpenZones(['UTC', 'Europe/Berlin'])
  assert.equal(some, '|Europe/Berlin|UTC|')
  assert.ok(isOpenIn(some, 'UTC') && isOpenIn(some, 'Europe/Berlin'))
  assert.ok(!isOpenIn(some, 'Europe') && !isOpenIn(some, 'Berlin'))
  assert.ok(isOpenIn(openEverywhere, 'Asia/Tokyo'))
  assert.ok(!isOpenIn(writeOpenZones([]), 'UTC'))
})

test('zones in which it has just opened are those that were not open before', () => {
  const [none, some] = [writeOpenZones([]), writeOpenZones(['UTC'])]
  assert.deepEqual(newlyOpen(writeOpenZones(['UTC', 'Asia/Tokyo']), some), ['Asia/Tokyo'])
  assert.deepEqual(newlyOpen(some, some), [])
  assert.deepEqual(newlyOpen(none, some), [])
  assert.equal(newlyOpen(openEverywhere, none), undefined)
  assert.deepEqual(newlyOpen(some, openEverywhere), [])
})

test("a device is in its owner's zone, else in the one that it reports, else in UTC", () => {
  assert.equal(deviceZoneOf({ timeZone: 'Asia/Tokyo' }, { timeZone: 'Europe/Berlin' }), 'Asia/Tokyo')
  assert.equal(deviceZoneOf({}, { timeZone: 'Europe/Berlin' }), 'Europe/Berlin')
  assert.equal(deviceZoneOf({}, {}), 'UTC')
  for (const wrong of ['Europe/Nowhere', 7, null, undefined]) assert.equal(zoneOf(wrong), 'UTC')
})

test('a zone is stored under one name, and shown as it was written', () => {
  assert.equal(zoneOf('europe/berlin'), zoneOf('Europe/Berlin'))
  assert.equal(zoneAsWritten('europe/berlin'), 'europe/berlin')
  assert.equal(zoneAsWritten('Europe/Nowhere'), 'UTC')
})
