// The checks of rollouts, schedules and windows find each kind of fault in events that are otherwise right.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Execution, JobcastEvent, Run } from '@jobcast/contract'
import { checkRollouts } from './check-rollouts.ts'
import { checkSchedules } from './check-schedules.ts'
import { checkWindows } from './check-windows.ts'

const noon = Date.UTC(2026, 0, 1, 12)
const instant = (ms: number) => new Date(noon + ms).toISOString()

function logOf(...events: [type: string, ms: number, data: object][]): JobcastEvent[] {
  return events.map(([type, ms, data], index) => {
    return { eventId: index + 1, type, timestamp: instant(ms), data } as JobcastEvent
  })
}

const ofRun = (type: string, ms: number, released: number): [string, number, object] => [
  `run.${type}`,
  ms,
  { runId: 1, released },
]
const start = (ms: number, jobExecutionId: number): [string, number, object] => [
  'execution.in_progress',
  ms,
  { runId: 1, jobExecutionId, cause: 'start', attempt: 1 },
]
const executions = Array.from({ length: 50 }, (_, index) => {
  return { runId: 1, jobExecutionId: 11 + index, deviceId: `d${index}` } as Execution
})

function rolledOut(released: number, ...events: [string, number, object][]): string[] {
  const rollout = { released, definition: { ratePerMinute: 60 } }
  const runs = [{ runId: 1, total: 50, rollout, scheduleName: null } as unknown as Run]
  return checkRollouts({ runs, executions, log: logOf(...events) })
}

const rollouts: [string, string[], RegExp | undefined][] = [
  [
    'a pause and what follows',
    rolledOut(
      ...([
        2,
        ofRun('released', 0, 1),
        start(5, 11),
        ofRun('paused', 9, 1),
        ofRun('resumed', 10, 1),
      ] as const),
      ofRun('released', 1010, 2),
    ),
    undefined,
  ],
  [
    'a release during a pause',
    rolledOut(2, ofRun('paused', 0, 0), ofRun('released', 9, 2)),
    /while it is PAUSED/,
  ],
  ['a step back', rolledOut(2, ofRun('released', 0, 2), ofRun('paused', 9, 1)), /1 released, after 2/],
  ['too many at once', rolledOut(40, ofRun('released', 0, 40)), /has released 40 within/],
  [
    'an early start',
    rolledOut(1, ofRun('released', 0, 1), start(1, 12)),
    /12 started before it was released/,
  ],
  ['another count', rolledOut(3, ofRun('released', 0, 1)), /says that 3 are released/],
]
for (const [title, found, expected] of rollouts) {
  test(`rollouts: ${title}`, () => {
    if (expected) assert.match(found.join('\n'), expected)
    else assert.deepEqual(found, [])
  })
}

test('schedules: an occurrence has one run, or was missed', () => {
  const run = (runId: number, ms: number) =>
    ({ runId, scheduleName: 's', scheduledFor: instant(ms) }) as unknown as Run
  const fired = (runId: number, ms: number): [string, number, object] => [
    'schedule.fired',
    ms,
    { scheduleName: 's', runId, scheduledFor: instant(ms) },
  ]
  const check = (runs: Run[], ...events: [string, number, object][]) =>
    checkSchedules([{ scheduleName: 's', due: [noon] }], {
      runs,
      executions: [],
      log: logOf(...events),
    }).join()
  assert.equal(check([run(1, 0)], fired(1, 0)), '')
  assert.match(check([]), /fired: false, missed: false/)
  assert.match(check([run(1, 0), run(2, 0)], fired(1, 0), fired(2, 0)), /has 2 runs for/)
  assert.match(check([run(1, 0), run(2, 7)], fired(1, 0), fired(2, 7)), /when it was not due/)
})

test('windows: a start before the window opens, or long after it has closed', () => {
  const rule = { windowName: 'w', cron: '0 12 * * *', durationMinutes: 1, timeZone: 'UTC' }
  const runs = [{ runId: 1, window: 'w' } as unknown as Run]
  const check = (ms: number) => checkWindows([rule], { runs, log: logOf(start(ms, 11)) }).length
  assert.deepEqual([-1, 0, 59_999, 65_000, 71_000].map(check), [1, 0, 0, 0, 1])
})
