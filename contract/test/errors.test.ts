// The catalogue and docs/errors.md have the same codes and texts, and an ApiError has those of the catalogue.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ApiError, type ErrorCode, errorCatalogue } from '@jobcast/contract'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| J-'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
const entries = Object.entries(errorCatalogue)

test('docs/errors.md has every code of the catalogue and no other, with its status and message', () => {
  assert.deepEqual(
    rows.map(([code, status, message]) => ({ code, status, message })),
    entries.map(([code, { status, message }]) => ({ code, status: String(status), message })),
  )
})

test('docs/errors.md tells for every code when it comes', () => {
  for (const [code, , , when, ...more] of rows) {
    assert.ok(when && when.length > 20, `${code} has no cause`)
    assert.deepEqual(more, [], `${code} has a cell too many`)
  }
})

// The original codes, which never change.
const specified: Partial<Record<ErrorCode, { status: number; message: string }>> = {
  'J-500': { status: 400, message: 'Validation error' },
  'J-802': { status: 403, message: 'Invalid API key' },
  'J-803': { status: 403, message: 'API key is expired' },
  'J-804': { status: 403, message: 'API key does not have the required permission' },
  'J-301': { status: 404, message: 'Job not found' },
  'J-001': { status: 404, message: 'Device not found' },
}
for (const [code, entry] of Object.entries(specified)) {
  test(`${code} is as specified`, () => {
    assert.deepEqual(errorCatalogue[code as ErrorCode], entry)
  })
}

test('no two codes have the same message', () => {
  const messages = entries.map(([, { message }]) => message)
  assert.equal(new Set(messages).size, messages.length)
})

test('an ApiError has status and message of its code, and the suffix behind a colon', () => {
  for (const [code, { status, message }] of entries) {
    const error = new ApiError(code as ErrorCode)
    assert.deepEqual([error.code, error.status, error.message], [code, status, message])
  }
  assert.equal(
    new ApiError('J-804', { suffix: 'TRIGGER' }).message,
    'API key does not have the required permission: TRIGGER',
  )
})
