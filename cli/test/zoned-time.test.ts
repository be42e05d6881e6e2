import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zonedTime } from '../src/output/zoned-time.ts'

test('a time in another zone has the form of all others', () => {
  assert.equal(zonedTime('2026-12-01T03:00+01:00'), '2026-12-01 03:00:00 +01:00')
  assert.equal(zonedTime('2026-12-01T02:00:00.000Z'), '2026-12-01 02:00:00')
  assert.equal(zonedTime('2026-12-01T02:00:09'), '2026-12-01 02:00:09')
  assert.equal(zonedTime('tomorrow'), 'tomorrow')
})
