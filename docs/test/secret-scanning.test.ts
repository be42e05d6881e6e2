// SECURITY.md has patterns for secret scanners; they must match the secrets that the service creates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { newSecretText, type SecretPrefix } from '../../server/src/domain/access/secret-text.ts'
import { newWebhookSecret } from '../../server/src/domain/webhook/webhook.ts'
import { blocksOf } from './markdown.ts'
import { readPage } from './pages.ts'

const page = readPage('SECURITY.md')
const [block] = blocksOf(page).filter(({ language }) => language === 'regex')
const patterns = (block?.text ?? '').trim().split('\n')
const prefixes: readonly SecretPrefix[] = ['jc', 'jd', 'je', 'js', 'jt', 'jx']

const found = (text: string) => patterns.flatMap((pattern) => text.match(new RegExp(pattern, 'g')) ?? [])

test('the patterns find new keys, tokens and webhook secrets wherever they are', () => {
  const secrets = [...prefixes.map((prefix) => newSecretText(prefix).text), newWebhookSecret()]
  for (const secret of secrets) {
    for (const text of [secret, `X-API-Key: ${secret}\n`, `{"key":"${secret}"}`, `KEY=${secret};`])
      assert.deepEqual(found(text), [secret], text)
  }
})

test('the patterns find nothing in names, ids and shortened secrets', () => {
  const { text } = newSecretText('jc')
  for (const harmless of [
    'jc_…',
    text.slice(0, -1),
    `${text}0`,
    text.replace('jc_', 'ja_'),
    'whsec_…',
    'ow_uDFZeNRYxEAb',
  ])
    assert.deepEqual(found(harmless), [], harmless)
})

test('the checksum is the one that the page describes', () => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  for (const prefix of prefixes) {
    const { text } = newSecretText(prefix)
    const value = [...text.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    assert.equal(value, crc32(text.slice(0, -6)))
  }
})

test('the page names every kind of secret', () => {
  for (const prefix of prefixes) assert.ok(page.includes(`| \`${prefix}_\` |`), prefix)
})
