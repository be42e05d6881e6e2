import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeUnsafe } from '../../src/observe/printable.ts'

test('control characters and marks of direction become escapes, and the JSON stays what it is', () => {
  const fields = { deviceId: 'a\u009b31m\u202egnp.exe\u2066\u200f\u007f', name: 'Größe 日本 😀' }
  const line = escapeUnsafe(JSON.stringify(fields))
  assert.doesNotMatch(line, /[\u007f-\u009f\u200f\u202e\u2066]/)
  assert.deepEqual(JSON.parse(line), fields)
  assert.ok(line.includes('Größe 日本 😀'))
})

test('with a prefix they are read back as text that shows them', () => {
  const line = escapeUnsafe(JSON.stringify({ deviceId: '\u202e' }), '\\')
  assert.equal(JSON.parse(line).deviceId, '\\u202e')
})
