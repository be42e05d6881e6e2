import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@jobcast/contract'
import { checkPlanId, newPlanId } from '../../../src/domain/trigger/plan-id.ts'

const now = 1_763_000_000_000
const job = { jobName: 'update', versionNo: 3 }
const planId = newPlanId(now, job, 'devices')
const detailOf = (...[id, at, of, devices]: Parameters<typeof checkPlanId>) => {
  try {
    checkPlanId(id, at, of, devices)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'J-505')
    return error.details.detail?.split(' ').slice(0, 3).join(' ')
  }
}

test('a plan is valid for ten minutes, for its job, version and devices', () => {
  assert.equal(detailOf(planId, now, job, 'devices'), undefined)
  assert.equal(detailOf(planId, now + 600_000, job, 'devices'), undefined)
  assert.equal(detailOf(planId, now + 600_001, job, 'devices'), 'The plan is')
  assert.equal(detailOf(planId, now, { ...job, versionNo: 4 }, 'devices'), 'The selected devices')
  assert.equal(detailOf(planId, now, { ...job, jobName: 'other' }, 'devices'), 'The selected devices')
  assert.equal(detailOf(planId, now, job, 'others'), 'The selected devices')
})

test('a call without a plan is not checked, and no text that somebody made up is a plan', () => {
  assert.equal(detailOf(undefined, now, job, 'devices'), undefined)
  for (const text of ['', 'x', '.', planId.slice(1), `zzzzzzzzzzzz${planId.slice(planId.indexOf('.'))}`]) {
    assert.equal(detailOf(text, now, job, 'devices'), 'The plan is', text)
  }
  const later = `${(now + 600_000 - 1).toString(36)}${planId.slice(planId.indexOf('.'))}`
  assert.equal(detailOf(later, now, job, 'devices'), undefined)
})
