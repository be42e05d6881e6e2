import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grantsOf, type RoleGrant } from '../../../src/domain/access/roles.ts'

const jobs = { restriction: { jobs: ['a-*'] } }
const at = (role: RoleGrant['role'], more: object = {}) => [{ owner: 'o', role, ...more }]
const roles = new Map([
  ['ops', at('operator', jobs)],
  ['approvers', at('approver', jobs)],
  ['viewers', at('viewer')],
  ['managers', at('manager')],
])

test('roles with the same restriction add up', () => {
  assert.deepEqual(grantsOf(roles, ['approvers', 'ops']).get('o'), {
    scopes: ['TRIGGER', 'READ', 'APPROVE'],
    restriction: jobs.restriction,
  })
  assert.deepEqual(grantsOf(roles, ['viewers', 'managers']).get('o'), {
    scopes: ['TRIGGER', 'READ', 'MANAGE'],
    restriction: null,
  })
})

test('of several restrictions the first of the setting counts, and nothing adds to it', () => {
  for (const groups of [
    ['managers', 'ops'],
    ['ops', 'viewers', 'managers'],
  ]) {
    assert.deepEqual(grantsOf(roles, groups).get('o'), {
      scopes: ['TRIGGER', 'READ'],
      restriction: jobs.restriction,
    })
  }
})
