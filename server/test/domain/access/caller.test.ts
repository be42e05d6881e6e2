import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type ErrorCode, type Scope, scopes } from '@jobcast/contract'
import { requireScope } from '../../../src/domain/access/access.ts'
import { type Caller, identifyCaller } from '../../../src/domain/access/caller.ts'
import type { StoredApiKey } from '../../../src/domain/access/ports/api-keys.ts'
import { hashSecret, newSecretText } from '../../../src/domain/access/secret-text.ts'

const now = Date.UTC(2026, 10, 15)
const secret = newSecretText('jc')
const good: StoredApiKey = {
  createdBy: null,
  createdBySession: null,
  keyId: secret.id,
  ownerNo: 7,
  ownerId: 'ow_7',
  keyName: 'k',
  secretHash: hashSecret(secret.text),
  scopes: ['TRIGGER'],
  restriction: null,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  createdAt: 0,
}

async function identify(
  apiKey: string | undefined,
  stored: Partial<StoredApiKey> | undefined,
): Promise<Caller> {
  const key = stored && { ...good, ...stored }
  return identifyCaller({ findApiKey: ({ keyId }) => (keyId === key?.keyId ? key : undefined) }, apiKey, now)
}

function answers(code: ErrorCode) {
  return (error: unknown) => error instanceof ApiError && error.code === code
}

test('a valid key makes its owner the caller, with exactly the scopes of the key', async () => {
  const caller = { keyId: secret.id, keyName: 'k', ownerNo: 7, ownerId: 'ow_7', scopes: ['TRIGGER'] }
  assert.deepEqual(await identify(secret.text, {}), caller)
  assert.deepEqual(await identify(secret.text, { expiresAt: now + 1 }), caller)
})

test('a store that answers later is waited for', async () => {
  const store = { findApiKey: async () => good }
  assert.equal((await identifyCaller(store, secret.text, now)).ownerNo, 7)
})

const otherSecret = { secretHash: hashSecret(newSecretText('jc').text) }
const refusals: [string, string | undefined, Partial<StoredApiKey> | undefined, ErrorCode][] = [
  ['there is no key', undefined, {}, 'J-802'],
  ['the key is empty', '', {}, 'J-802'],
  ['the key is no key', 'secret', {}, 'J-802'],
  ['the key is given twice', `${secret.text}, ${secret.text}`, {}, 'J-802'],
  ['the key is a device token', newSecretText('jd').text, {}, 'J-802'],
  ['the key is unknown', secret.text, undefined, 'J-802'],
  ['only the id of the key is right', secret.text, otherSecret, 'J-802'],
  ['the key is revoked', secret.text, { revokedAt: now - 1 }, 'J-802'],
  ['the key is revoked as of later, by another clock', secret.text, { revokedAt: now + 1000 }, 'J-802'],
  ['the key is revoked and expired', secret.text, { revokedAt: now - 1, expiresAt: now - 1 }, 'J-802'],
  ['only the id is right and the key is expired', secret.text, { ...otherSecret, expiresAt: 1 }, 'J-802'],
  ['the key is expired', secret.text, { expiresAt: now - 1 }, 'J-803'],
  ['the key expires in this very millisecond', secret.text, { expiresAt: now }, 'J-803'],
]
for (const [why, apiKey, stored, code] of refusals) {
  test(`answers ${code} when ${why}`, () => assert.rejects(identify(apiKey, stored), answers(code)))
}

test('one of the scopes is enough; answers J-804 with the first one when there is none', () => {
  const callerWith = (...held: Scope[]): Caller => ({ keyId: 'k', ownerNo: 1, ownerId: 'o', scopes: held })
  requireScope(callerWith('READ'), 'READ')
  requireScope(callerWith('ADMIN'), 'MANAGE', 'ADMIN')
  for (const needed of scopes) {
    const others = scopes.filter((scope) => scope !== needed)
    assert.throws(() => requireScope(callerWith(...others), needed), {
      code: 'J-804',
      message: `API key does not have the required permission: ${needed}`,
    })
  }
  assert.throws(() => requireScope(callerWith(), 'MANAGE', 'ADMIN'), { message: /: MANAGE$/ })
})
