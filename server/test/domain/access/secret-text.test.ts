import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import {
  hashSecret,
  mayHoldSecret,
  newSecretText,
  randomText,
  readSecretText,
  secretId,
  secretMatches,
} from '../../../src/domain/access/secret-text.ts'

test('a new secret has its prefix, its id and a checksum that holds', () => {
  for (const prefix of ['jc', 'jd', 'je'] as const) {
    const { id, text } = newSecretText(prefix)
    assert.match(text, new RegExp(`^${prefix}_[0-9A-Za-z]{48}$`))
    assert.match(id, /^[0-9A-Za-z]{10}$/)
    assert.ok(text.startsWith(`${prefix}_${id}`))
    assert.equal(secretId(prefix, text), id)
    assert.deepEqual(readSecretText(prefix, text), { id, text })
  }
})

test('a key, a device token and an enrollment token do not pass for each other', () => {
  const prefixes = ['jc', 'jd', 'je'] as const
  for (const prefix of prefixes) {
    for (const other of prefixes.filter((each) => each !== prefix)) {
      assert.equal(secretId(prefix, newSecretText(other).text), undefined)
    }
  }
})

test('a secret is noticed wherever it stands in a text', () => {
  for (const prefix of ['jc', 'jd', 'je'] as const) {
    const { text } = newSecretText(prefix)
    for (const held of [text, ` ${text}`, `d1:${text}?x`]) assert.ok(mayHoldSecret(held))
  }
  for (const harmless of ['', 'kiosk-1', 'je-1', 'object']) assert.ok(!mayHoldSecret(harmless))
})

test('any one wrong, missing or added character is noticed before any look-up', () => {
  const { text } = newSecretText('jc')
  fc.assert(
    fc.property(
      fc.nat(text.length - 1),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      (at, character) => {
        const changed = text.slice(0, at) + character + text.slice(at + 1)
        const added = text.slice(0, at) + character + text.slice(at)
        assert.equal(secretId('jc', changed), changed === text ? secretId('jc', text) : undefined)
        assert.equal(secretId('jc', added), undefined)
        assert.equal(secretId('jc', text.slice(0, at) + text.slice(at + 1)), undefined)
      },
    ),
    randomInputs({ test: 300, chaos: 10000 }),
  )
})

test('two swapped characters are detected', () => {
  const { text } = newSecretText('jc')
  for (let at = 0; at + 1 < text.length; at++) {
    if (text[at] === text[at + 1]) continue
    const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2)
    assert.equal(secretId('jc', swapped), undefined)
  }
})

test('any text is checked without an error', () => {
  const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 51, maxLength: 51 }))
  fc.assert(
    fc.property(anything, (text) => secretId('jc', text) === undefined),
    randomInputs({ test: 100, chaos: 10000 }),
  )
})

test('secrets do not repeat, and random text uses its whole alphabet', () => {
  const secrets = Array.from({ length: 1000 }, () => newSecretText('jc'))
  assert.equal(new Set(secrets.map((secret) => secret.text)).size, 1000)
  assert.equal(new Set(secrets.map((secret) => secret.id)).size, 1000)
  assert.equal(new Set(randomText(20_000)).size, 62)
})

test('a secret matches its own hash only, and nothing when there is none', () => {
  const [one, other] = [newSecretText('jc').text, newSecretText('jc').text]
  assert.equal(hashSecret(one).length, 32)
  assert.ok(secretMatches(one, hashSecret(one)))
  assert.ok(!secretMatches(other, hashSecret(one)))
  assert.ok(!secretMatches(one, undefined))
  assert.ok(!secretMatches('nobody', undefined))
})
