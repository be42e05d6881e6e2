import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { exceededQuota, isHeldBack } from '../../../src/domain/event/progress-events.ts'

const at = steadyInstant

test('a progress event within a second of the one before is held back', () => {
  assert.equal(isHeldBack(null, at(5000)), false)
  assert.equal(isHeldBack(at(4001), at(5000)), true)
  assert.equal(isHeldBack(at(5000), at(5000)), true)
  assert.equal(isHeldBack(at(4000), at(5000)), false)
})

test('one that seems to lie ahead holds nothing back', () => {
  assert.equal(isHeldBack(at(5001), at(5000)), false)
})

test('progress beyond a quota is refused, and the quota is named', () => {
  const quotas = { 'max-execution-reports': 10, 'max-progress-bytes': 20 }
  const details = { percent: '40' }
  const bytes = Buffer.byteLength(JSON.stringify(details))
  const judge = (versionNumber: number, progressBytes: number, of = quotas) =>
    exceededQuota({ versionNumber, progressBytes }, details, of)
  assert.equal(judge(9, 20 - bytes), undefined)
  assert.equal(judge(10, 0), 'max-execution-reports')
  assert.equal(judge(9, 21 - bytes), 'max-progress-bytes')
  assert.equal(judge(1000, 1000, { 'max-execution-reports': 0, 'max-progress-bytes': 0 }), undefined)
  assert.equal(exceededQuota({ versionNumber: 9, progressBytes: 20 }, undefined, quotas), undefined)
})
