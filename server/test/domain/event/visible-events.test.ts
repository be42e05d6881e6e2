import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, accessKinds, type Scope } from '@jobcast/contract'
import { hiddenKindsOf, requireVisible } from '../../../src/domain/event/visible-events.ts'

const caller = (...scopes: Scope[]) => ({ keyId: 'k', ownerNo: 1, ownerId: 'o', scopes })
const refusedFor = (type: string, ...scopes: Scope[]) => {
  try {
    requireVisible(caller(...scopes), ['execution.*', type])
    return undefined
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.details.suffix}` : error
  }
}

test('events about access need MANAGE, those about owners ADMIN', () => {
  assert.deepEqual(hiddenKindsOf(caller('ADMIN')), [])
  assert.deepEqual(hiddenKindsOf(caller('MANAGE', 'READ')), ['owner'])
  assert.deepEqual(hiddenKindsOf(caller('READ')), accessKinds)
})

test('a type or a pattern that the caller may not see is refused with the scope that is missing', () => {
  assert.equal(refusedFor('key.created', 'READ'), 'J-804 MANAGE')
  assert.equal(refusedFor('key.*', 'READ'), 'J-804 MANAGE')
  assert.equal(refusedFor('owner.*', 'MANAGE'), 'J-804 ADMIN')
  assert.equal(refusedFor('key.*', 'MANAGE'), undefined)
  assert.equal(refusedFor('owner.*', 'ADMIN'), undefined)
  assert.equal(refusedFor('run.*', 'READ'), undefined)
})
