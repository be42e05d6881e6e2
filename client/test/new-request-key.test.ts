import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRequestKey as newConsoleKey } from '../../console/src/api/request-key.ts'
import { newRequestKey } from '../src/new-request-key.ts'

test('the client makes UUIDs of version 7', () => {
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  for (let count = 0; count < 100; count++) assert.match(newRequestKey(), pattern)
})

for (const { of, newKey } of [
  { of: 'the client', newKey: newRequestKey },
  { of: 'the console', newKey: newConsoleKey },
]) {
  test(`keys of ${of} differ, and are in the order of their time`, (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 19) })
    const keys: string[] = []
    for (let count = 0; count < 100; count++) {
      keys.push(newKey())
      t.mock.timers.tick(1)
    }
    assert.deepEqual(keys.toSorted(), keys)
    assert.equal(new Set(Array.from({ length: 100 }, newKey)).size, 100)
  })
}
