import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasSeen, reportMark, withSeen } from '../../../src/domain/execution/seen-reports.ts'

const report = {
  jobExecutionId: 1,
  status: 'FAILED',
  statusDetails: { step: '1' },
  result: undefined,
  expectedVersion: undefined,
  attempt: undefined,
  stepTimeout: undefined,
  clientToken: 'a',
} as const

test('a mark is that of a token and a content; without a token there is none', () => {
  assert.equal(reportMark(report), reportMark({ ...report }))
  for (const other of [
    { clientToken: 'b' },
    { status: 'REJECTED' as const },
    { attempt: 2 },
    { result: '1' },
  ]) {
    assert.notEqual(reportMark({ ...report, ...other }), reportMark(report), JSON.stringify(other))
  }
  assert.equal(reportMark({ ...report, clientToken: undefined }), undefined)
})

test('the ends of attempts are all remembered, of the others the last eight', () => {
  let seen: string | null = null
  for (let attempt = 0; attempt < 3; attempt++) {
    for (let step = 0; step < 20; step++) seen = withSeen(seen, `step-${attempt}-${step}`, false)
    seen = withSeen(seen, `end-${attempt}`, true)
  }
  for (let attempt = 0; attempt < 3; attempt++) assert.ok(hasSeen(seen, `end-${attempt}`))
  assert.ok(hasSeen(seen, 'step-2-19') && hasSeen(seen, 'step-2-13'))
  assert.ok(!hasSeen(seen, 'step-2-10') && !hasSeen(seen, 'step-1-19'))
  assert.ok(!hasSeen(seen, undefined) && !hasSeen(null, 'end-1'))
})
