// When a device that was given the job of a schedule gets it again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { backOffMs, type GiveRule, isFree } from '../../../src/domain/schedule/give-again.ts'
import type { GivenDevice } from '../../../src/domain/schedule/ports/given-devices.ts'
import type { StoredScheduleContent, StoredWhen } from '../../../src/domain/schedule/ports/schedules.ts'

const contentOf = (more: Partial<StoredScheduleContent> = {}) => ({
  content: {
    ...{ description: null, version: null, targets: { where: 'all' }, rollout: null, approval: false },
    ...{ overlap: 'SKIP', catchUpSeconds: 60, jitterSeconds: 0, pauseAfterFailures: null, until: null },
    when: { kind: 'match', again: 'WHILE_MATCHING', backOffSeconds: 60 },
    ...more,
  } as StoredScheduleContent,
})

test('the back-off doubles with each execution in a row, up to a day', () => {
  const seconds = (times: number, when?: StoredWhen) =>
    backOffMs(contentOf({ ...(when && { when }) }), times) / 1000
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((times) => seconds(times)),
    [60, 60, 120, 240, 480],
  )
  assert.deepEqual(
    [11, 12, 13, 5000].map((times) => seconds(times)),
    [61_440, 86_400, 86_400, 86_400],
  )
  assert.equal(seconds(1, { kind: 'match', backOffSeconds: 86_400 }), 86_400)
})

const now = steadyInstant(1000)
const given: GivenDevice = {
  ...{ deviceNo: 1, jobExecutionId: 7, jobVersion: 3, times: 1, endedAt: now, againAt: null },
}
const onNew = { again: 'ON_NEW_VERSION', versionNo: 4 } as const
const busy = { endedAt: null }
const cases: [string, boolean, GiveRule, Partial<GivenDevice>, Partial<StoredScheduleContent>?][] = [
  ['the back-off is over', true, { again: 'WHILE_MATCHING' }, { againAt: now }],
  ['it is not over', false, { again: 'WHILE_MATCHING' }, { againAt: steadyInstant(1001) }],
  ['its execution has not ended', false, { again: 'WHILE_MATCHING' }, busy],
  ['it was canceled when it left', true, { onLeave: 'CANCEL' }, { againAt: now }],
  ['it was given it once', false, { onLeave: 'CANCEL' }, {}],
  ['a new version', true, onNew, {}],
  ['a new version, the one before has not ended', false, onNew, busy],
  ['a new version that replaces the one before', true, onNew, busy, { overlap: 'REPLACE' }],
  ['the same version', false, onNew, { jobVersion: 4 }],
  ['a later version than is known', false, onNew, { jobVersion: 5 }],
  ['an earlier version that the schedule names', true, onNew, { jobVersion: 5 }, { version: 2 }],
  ['an unknown version', true, onNew, { jobVersion: null, jobExecutionId: null, endedAt: null }],
  ['its job is gone', false, { again: 'ON_NEW_VERSION' }, {}],
]
for (const [title, expected, rule, more, content] of cases) {
  test(`${title}: ${expected ? 'it gets it' : 'it does not get it'}`, () => {
    assert.equal(isFree(contentOf(content), rule, { ...given, ...more }, now), expected)
  })
}
