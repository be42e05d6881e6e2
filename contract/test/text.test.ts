// Names and times on the wire.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  GivenInstant,
  Name,
  NewDeviceId,
  NewJobName,
  Prose,
  toInstant,
  toLaunchedAt,
} from '@jobcast/contract'

const matches = (schema: object, text: string) =>
  new RegExp((schema as { pattern: string }).pattern, 'u').test(text)

const names: [string, boolean][] = [
  ['a', true],
  [' a ', true],
  ['a'.repeat(128), true],
  ['🚪'.repeat(128), true],
  ["' OR 1=1 --", true],
  ['', false],
  ['   ', false],
  ['\u2003\u00a0', false],
  ['a'.repeat(129), false],
  ['🚪'.repeat(129), false],
  ['a\u0000', false],
  ['a\nb', false],
  ['a\u009f', false],
  ['\ud83d', false],
  ['\udeaa\ud83d', false],
]
for (const [text, good] of names) {
  test(`${JSON.stringify(text).slice(0, 24)} is ${good ? 'a' : 'no'} name, of a job and of a device too`, () => {
    for (const schema of [Name, NewJobName, NewDeviceId]) assert.equal(matches(schema, text), good)
  })
}

test('a device id has no part in topics and paths: / + # ? . and ..', () => {
  for (const text of ['a/b', 'a+', '#', '?a', '.', '..'])
    assert.equal(matches(NewDeviceId, text), false, text)
  for (const text of ['...', '.a', 'a:b', '$a']) assert.equal(matches(NewDeviceId, text), true, text)
  for (const text of ['.', '..']) assert.equal(matches(NewJobName, text), false, text)
  assert.equal(matches(NewJobName, 'a/b+#?'), true)
})

test('prose has line breaks and tabs, and no other control characters', () => {
  for (const text of ['', 'one\r\n\ttwo', '🚪']) assert.equal(matches(Prose, text), true)
  for (const text of ['\u0000', '\u001b[31m', '\ud800']) assert.equal(matches(Prose, text), false)
})

test('a given instant has a T and no leap second, so that a Date can hold it', () => {
  for (const text of ['2026-11-15T09:30:00Z', '2026-11-15T09:30:59.123456+14:00']) {
    assert.equal(matches(GivenInstant, text), true, text)
    assert.ok(Number.isFinite(Date.parse(text)))
  }
  for (const text of ['2026-12-31T23:59:60Z', '2026-11-15 09:30:00Z', '2026-11-15t09:30:00z']) {
    assert.equal(matches(GivenInstant, text), false, text)
  }
})

test('launchedAt is UTC in whole seconds without an offset, cut off and not rounded', () => {
  const ms = Date.parse('2026-12-31T23:59:59.999Z')
  assert.equal(toLaunchedAt(ms), '2026-12-31T23:59:59')
  assert.equal(toInstant(ms), '2026-12-31T23:59:59.999Z')
})
