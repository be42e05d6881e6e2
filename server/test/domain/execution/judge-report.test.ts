// Whether a report is accepted: if it has several problems, the first one in this order is returned.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { execStates } from '@jobcast/contract'
import { laterBy, steadyInstant } from '../../../src/domain/common/instants.ts'
import { isTerminal, type Life } from '../../../src/domain/execution/execution.ts'
import { type Judged, judgeReport } from '../../../src/domain/execution/judge-report.ts'

type Report = Parameters<typeof judgeReport>[1]

const clock = steadyInstant(1000)
const soon = laterBy(1, clock)
const bare: Report = {
  status: 'SUCCEEDED',
  attempt: undefined,
  expectedVersion: undefined,
  mark: undefined,
}
const waiting: Life = {
  execState: 'PENDING',
  attempt: 2,
  startedAt: null,
  finishedAt: null,
  notBefore: null,
  dueAt: null,
  deadlineAt: null,
  heldMs: 0,
  waitsFrom: null,
}
const running: Life = { ...waiting, execState: 'IN_PROGRESS', startedAt: 1 }
const delayed: Life = { ...waiting, notBefore: soon, dueAt: soon }

const refusals: [string, Life, Partial<Report>, string][] = [
  ['another attempt', running, { attempt: 1 }, 'unknown-execution'],
  ['another attempt of what waits for a retry', delayed, { attempt: 1 }, 'unknown-execution'],
  ['another attempt, and another version', running, { attempt: 3, expectedVersion: 9 }, 'unknown-execution'],
  ['what waits for a retry', delayed, {}, 'wrong-state'],
  [
    'what waits for a retry, by its attempt and version',
    delayed,
    { attempt: 2, expectedVersion: 5 },
    'wrong-state',
  ],
  ['what waits for a retry, once more', delayed, { mark: 't' }, 'double'],
  ['an earlier attempt, once more, while the next waits', waiting, { status: 'FAILED', mark: 't' }, 'double'],
  ['an earlier attempt, once more, while the next runs', running, { status: 'FAILED', mark: 't' }, 'double'],
  ['an attempt that is not started', waiting, { status: 'FAILED', mark: 'u' }, 'wrong-state'],
  ['another version', running, { expectedVersion: 4 }, 'wrong-version'],
  [
    'another version, and no step from here',
    running,
    { status: 'CANCELED', expectedVersion: 4 },
    'wrong-version',
  ],
  ['no step from here', running, { status: 'CANCELED' }, 'wrong-state'],
  ['progress, once more', running, { status: 'IN_PROGRESS', mark: 'p' }, 'double'],
  ['progress, once more, of the attempt before', waiting, { status: 'IN_PROGRESS', mark: 'p' }, 'double'],
]
for (const [title, life, report, kind] of refusals) {
  test(`a report on ${title} gets ${kind}`, () => {
    const judged: Judged = { life, versionNumber: 5, seenReports: 'p .t', cancelVersion: null }
    assert.equal(judgeReport(judged, { ...bare, ...report }, clock).kind, kind)
  })
}

const counting: [string, Life, Partial<Report>, string][] = [
  ['the attempt and version there is', running, { attempt: 2, expectedVersion: 5 }, 'succeed'],
  ['progress with a new token', running, { status: 'IN_PROGRESS', mark: 'u' }, 'progress'],
  ['progress without a token', running, { status: 'IN_PROGRESS' }, 'progress'],
  ['an attempt that is not started, by its number', waiting, { attempt: 2 }, 'succeed'],
  ['an attempt that is not started, by its version', waiting, { expectedVersion: 5 }, 'succeed'],
  ['an attempt that is not started, which it starts', waiting, { status: 'IN_PROGRESS', mark: 'u' }, 'start'],
  ['what is not now', running, { status: 'REJECTED', isNotNow: true }, 'not-now'],
  [
    'what is being canceled and not now',
    { ...running, execState: 'CANCELING' },
    { status: 'REJECTED', isNotNow: true },
    'reject',
  ],
  ['what has waited for its retry', { ...delayed, notBefore: clock }, { status: 'IN_PROGRESS' }, 'start'],
]
for (const [title, life, report, event] of counting) {
  test(`a report on ${title} counts`, () => {
    const judged: Judged = { life, versionNumber: 5, seenReports: 'p .t', cancelVersion: null }
    assert.deepEqual(judgeReport(judged, { ...bare, ...report }, clock), { kind: 'event', event })
  })
}

test('a result counts whose device does not know yet that it is asked to stop, and no older one', () => {
  const life: Life = { ...running, execState: 'CANCELING' }
  const judged: Judged = { life, versionNumber: 5, seenReports: null, cancelVersion: 5 }
  const kindOf = (expectedVersion: number, changes: Partial<Judged> = {}) =>
    judgeReport({ ...judged, ...changes }, { ...bare, expectedVersion }, clock).kind
  assert.equal(kindOf(5), 'event')
  assert.equal(kindOf(4), 'event')
  assert.equal(kindOf(3), 'wrong-version')
  assert.equal(kindOf(5, { versionNumber: 6 }), 'wrong-version', 'the device has reported since')
})

test('no report counts once the execution has ended', () => {
  for (const execState of execStates.filter(isTerminal)) {
    const judged: Judged = {
      life: { ...running, execState },
      versionNumber: 5,
      seenReports: 'p .t',
      cancelVersion: null,
    }
    for (const report of [{}, { attempt: 2, expectedVersion: 5 }, { expectedVersion: 4 }, { mark: 'u' }]) {
      assert.deepEqual(judgeReport(judged, { ...bare, ...report }, clock), { kind: 'wrong-state' })
    }
    assert.deepEqual(judgeReport(judged, { ...bare, mark: 't' }, clock), { kind: 'double' })
  }
})
