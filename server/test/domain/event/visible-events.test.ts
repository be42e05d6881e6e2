import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type Scope } from '@jobcast/contract'
import { accessNouns, hiddenNounsOf, requireVisible } from '../../../src/domain/event/visible-events.ts'

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
  assert.deepEqual(hiddenNounsOf(caller('ADMIN')), [])
  assert.deepEqual(hiddenNounsOf(caller('MANAGE', 'READ')), ['owner'])
  assert.deepEqual(hiddenNounsOf(caller('READ')), accessNouns)
  assert.ok(
    ['key', 'session', 'enrollment', 'webhook', 'owner'].every((noun) =>
      accessNouns.some((each) => each === noun),
    ),
  )
})

test('a key that may read the audit sees its seals, and nothing else about access', () => {
  const hidden = hiddenNounsOf(caller('READ', 'AUDIT'))
  assert.deepEqual(
    hidden,
    accessNouns.filter((noun) => noun !== 'audit'),
  )
  assert.equal(refusedFor('audit.sealed', 'READ', 'AUDIT'), undefined)
  assert.equal(refusedFor('audit.sealed', 'READ'), 'J-804 MANAGE')
})

test('a type or a pattern that the caller may not see is refused with the scope that is missing', () => {
  assert.equal(refusedFor('key.created', 'READ'), 'J-804 MANAGE')
  assert.equal(refusedFor('key.*', 'READ'), 'J-804 MANAGE')
  assert.equal(refusedFor('owner.*', 'MANAGE'), 'J-804 ADMIN')
  assert.equal(refusedFor('key.*', 'MANAGE'), undefined)
  assert.equal(refusedFor('owner.*', 'ADMIN'), undefined)
  assert.equal(refusedFor('run.*', 'READ'), undefined)
})
