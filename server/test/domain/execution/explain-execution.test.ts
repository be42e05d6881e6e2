// One sentence for each thing an execution can wait for, and for each end.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, type ExplanationCode, explanationCodes } from '@jobcast/contract'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import type { StoredPresence } from '../../../src/domain/device/ports/presence.ts'
import type { ExecutionEvent } from '../../../src/domain/execution/execution.ts'
import { explain, type Facts } from '../../../src/domain/execution/explain-execution.ts'
import type { StoredTransition } from '../../../src/domain/execution/ports/executions.ts'
import { beginRollout, type RolloutStatus } from '../../../src/domain/rollout/judge-rollout.ts'

const at = Date.UTC(2026, 10, 15, 3, 0, 0, 123)
const minute = 60_000

const pending: Facts['execution'] = {
  jobExecutionId: 42,
  jobName: 'restart',
  deviceId: 'kiosk-1',
  deviceName: 'Kiosk 1',
  execState: 'PENDING',
  launchedAt: at,
  runId: 7,
  attempt: 1,
  versionNumber: 1,
  startedAt: null,
  finishedAt: null,
  notifiedAt: null,
  deliveredAt: null,
  statusDetails: {},
  result: null,
  outputBytes: 0,
  outputCut: false,
  priority: 5,
}
const online: StoredPresence = { online: true, since: at, lastSeenAt: at, transport: 'mqtt' }
const offline: StoredPresence = {
  online: false,
  since: at + minute,
  lastSeenAt: at + minute,
  transport: 'mqtt',
}
const brokenBridge = { bridgeName: 'b1', state: 'connecting', lastError: 'connect ECONNREFUSED' }
const never: StoredPresence = { online: false, since: null, lastSeenAt: null, transport: null }

function step(event: ExecutionEvent, actor: string, to: ExecState = 'CANCELED'): StoredTransition {
  return {
    at,
    from: 'PENDING',
    to,
    event,
    actor,
    actorName: null,
    attempt: 1,
    versionNumber: 2,
    reason: null,
  }
}

function about(
  execution: Partial<Facts['execution']>,
  more: Partial<Facts> = {},
): ReturnType<typeof explain> {
  return explain({
    execution: { ...pending, ...execution },
    notBefore: null,
    transitions: [],
    presence: online,
    hasToken: true,
    first: { jobExecutionId: 42, execState: 'PENDING' },
    timesOutAt: null,
    ...more,
  })
}

/** Of run 7, in waves of 2, 100 and 898; execution 42 is at this position. */
function held(
  position: number,
  more: Partial<RolloutStatus> = {},
  startAt: number | null = null,
): Partial<Facts> {
  const next = { succeededPercent: 95, where: 'fw=2.4.1', soakSeconds: 60 }
  const plan = {
    rollout: { next, ratePerMinute: 200 },
    approval: false,
    sizes: [2, 100, 898],
    expireAfterSeconds: null,
    deadlineSeconds: null,
  }
  const status = { ...beginRollout(3, steadyInstant(0)), wave: 1, released: 102, ...more }
  const ids = {
    runId: 7,
    ownerNo: 1,
    firstExecutionId: 42 - position,
    total: 1000,
    version: 3,
    nextAt: null,
    startAt,
  }
  const now = { at, clock: steadyInstant(0) }
  return {
    rollout: { rollout: { ...ids, plan, status }, wave: { SUCCEEDED: 90 }, offline: 12, confirmed: 88, now },
  }
}

const failing = { since: at, times: 3, message: 'internal error (22P02)' }

function heldFailing(position: number): Partial<Facts> {
  const { rollout } = held(position)
  return { rollout: rollout && { ...rollout, failing } }
}

const nights = {
  windowName: 'nights',
  cron: '0 2 * * *',
  durationMinutes: 120,
  timeZone: 'device',
  cutoffMinutes: 30,
  except: [],
  createdAt: at,
  updatedAt: at,
  changers: null,
  createdBy: null,
  updatedBy: null,
}

type Row = { code: ExplanationCode; text: string; given: ReturnType<typeof about> }
const rows: Row[] = [
  {
    code: 'NOT_RELEASED',
    text: 'Wave 3 of 3 opens when 95 % of wave 2 have succeeded and report fw=2.4.1, for 60 s; 88 % so far, 12 devices offline.',
    given: about({}, held(500)),
  },
  {
    code: 'NOT_RELEASED',
    text: 'It is in wave 2 of 3, of which 30 of 100 are released so far, at 200 a minute.',
    given: about({}, held(50, { released: 32 })),
  },
  {
    code: 'NOT_RELEASED',
    text: 'Run 7 was stopped; this execution is being canceled.',
    given: about({}, held(500, { state: 'ABORTED' })),
  },
  {
    code: 'RUN_PAUSED',
    text: 'Run 7 was paused by stop rule: 3 failed. It continues when it is resumed.',
    given: about({}, held(500, { state: 'PAUSED', pausedBecause: '3 failed', pausedBy: 'stop rule' })),
  },
  {
    code: 'AWAITING_APPROVAL',
    text: 'Run 7 waits for approval by somebody who has not created, changed or fired it.',
    given: about({}, held(500, { state: 'AWAITING_APPROVAL' })),
  },
  {
    code: 'NOT_NOTIFIED_YET',
    text: 'Device kiosk-1 is online, but has not been notified of this yet; it is notified when it polls or subscribes.',
    given: about({}, held(101)),
  },
  {
    code: 'RELEASE_FAILING',
    text: 'Run 7 cannot continue: 3 tries have failed since 2026-11-15T03:00:00Z, the last one with: internal error (22P02). It is retried.',
    given: about({}, heldFailing(500)),
  },
  {
    code: 'TIMER_FAILING',
    text: 'Its timer was due at 2026-11-15T03:01:00Z, but timers cannot be written: 3 tries have failed since 2026-11-15T03:00:00Z, the last one with: internal error (22P02). It is retried.',
    given: about({ execState: 'IN_PROGRESS' }, { overdue: { at: at + minute, failing } }),
  },
  {
    code: 'FROZEN',
    text: 'The fleet was frozen by key ci at 2026-11-15T03:00:00Z until 2026-11-15T03:01:00Z: no changes.',
    given: about(
      {},
      {
        freeze: { reason: 'no changes', principal: 'key:k1', at, until: at + minute },
        keyNames: () => ({ keyName: 'ci', keyState: 'ACTIVE' }),
      },
    ),
  },
  {
    code: 'SCHEDULED',
    text: 'Run 7 starts at 2026-11-15T03:01:00Z.',
    given: about({}, held(0, { state: 'SCHEDULED', released: 0 }, at + minute)),
  },
  {
    code: 'OUTSIDE_WINDOW',
    text: 'Window nights is closed; it opens at 2026-11-16T02:00+01:00 where device kiosk-1 is (Europe/Berlin), 2026-11-16T01:00:00Z.',
    given: about(
      {},
      { window: { windows: [{ window: nights }], zone: 'Europe/Berlin', isZoneUnknown: false, now: at } },
    ),
  },
  {
    code: 'OUTSIDE_WINDOW',
    text: 'Window nights is in its cutoff: it offers nothing new before it closes; it opens next at 2026-11-16T02:00+00:00 where device kiosk-1 is (UTC, because it has no time zone), 2026-11-16T02:00:00Z.',
    given: about(
      {},
      { window: { windows: [{ window: nights }], zone: 'UTC', isZoneUnknown: true, now: at + 45 * minute } },
    ),
  },
  {
    code: 'WAITING_FOR_RETRY',
    text: 'Attempt 1 failed at 2026-11-15T03:00:00Z; attempt 2 starts no earlier than 2026-11-15T03:01:00Z.',
    given: about(
      { attempt: 2 },
      { notBefore: at + minute, transitions: [step('retry', 'device', 'PENDING')], presence: never },
    ),
  },
  {
    code: 'WAITING_FOR_RETRY',
    text: 'Attempt 2 timed out at 2026-11-15T03:00:00Z; attempt 3 starts no earlier than 2026-11-15T03:01:00Z.',
    given: about(
      { attempt: 3 },
      { notBefore: at + minute, transitions: [step('retry', 'clock', 'PENDING')], presence: offline },
    ),
  },
  {
    code: 'NOT_NOW',
    text: 'Device kiosk-1 reported at 2026-11-15T03:00:00Z that it cannot run this now (customer at the till); it is offered again at 2026-11-15T03:01:00Z.',
    given: about(
      {},
      {
        notBefore: at + minute,
        transitions: [{ ...step('not-now', 'device', 'PENDING'), reason: 'customer at the till' }],
      },
    ),
  },
  {
    code: 'DEVICE_NEVER_CONNECTED',
    text: 'Device kiosk-1 has never connected; it gets this when it does.',
    given: about({}, { presence: never, first: undefined }),
  },
  {
    code: 'DEVICE_NEVER_CONNECTED',
    text: 'Device kiosk-1 has never connected; it has no device token yet.',
    given: about({}, { presence: never, hasToken: false }),
  },
  {
    code: 'NOT_NOTIFIED_YET',
    text: 'Bridge b1 is not connected: connect ECONNREFUSED; device kiosk-1 is notified when it is.',
    given: about({}, { presence: never, hasToken: false, bridge: brokenBridge }),
  },
  {
    code: 'DEVICE_OFFLINE',
    text: 'Device kiosk-1 has been offline since 2026-11-15T03:01:00Z; it gets this when it connects.',
    given: about({}, { presence: offline, bridge: brokenBridge }),
  },
  {
    code: 'NOTIFIED',
    text: 'Handed to broker b1 at 2026-11-15T03:00:00Z; device kiosk-1 has not requested it yet.',
    given: about({ notifiedAt: at }, { presence: never, bridge: brokenBridge }),
  },
  {
    code: 'DEVICE_OFFLINE',
    text: 'Device kiosk-1 has been offline since 2026-11-15T03:01:00Z; it gets this when it connects.',
    given: about(
      { notifiedAt: at },
      { presence: offline, first: { jobExecutionId: 41, execState: 'IN_PROGRESS' } },
    ),
  },
  {
    code: 'BEHIND_EXECUTION',
    text: 'Device kiosk-1 is online and has to finish execution 41 first, which is IN_PROGRESS.',
    given: about({ notifiedAt: at }, { first: { jobExecutionId: 41, execState: 'IN_PROGRESS' } }),
  },
  {
    code: 'NOT_NOTIFIED_YET',
    text: 'Device kiosk-1 is online, but has not been notified of this yet; it is notified when it polls or subscribes.',
    given: about({}),
  },
  {
    code: 'NOTIFIED',
    text: 'Device kiosk-1 is online and was notified of this at 2026-11-15T03:00:00Z, but has not started it.',
    given: about({ notifiedAt: at }),
  },
  {
    code: 'DELIVERED',
    text: 'Device kiosk-1 is online and confirmed at 2026-11-15T03:01:00Z that it has this, but has not started it.',
    given: about({ notifiedAt: at, deliveredAt: at + minute }),
  },
  {
    code: 'RUNNING',
    text: 'Device kiosk-1 has been working on attempt 1 since 2026-11-15T03:00:00Z; it has no time limit.',
    given: about({ execState: 'IN_PROGRESS', startedAt: at }),
  },
  {
    code: 'RUNNING',
    text: 'Device kiosk-1 has been working on attempt 2 since 2026-11-15T03:00:00Z, but has been offline since 2026-11-15T03:01:00Z; it times out at 2026-11-15T03:02:00Z.',
    given: about(
      { execState: 'IN_PROGRESS', startedAt: at, attempt: 2 },
      { presence: offline, timesOutAt: at + 2 * minute },
    ),
  },
  {
    code: 'CANCEL_REQUESTED',
    text: 'Cancel was requested by key abc at 2026-11-15T03:00:00Z; device kiosk-1 has until 2026-11-15T03:01:00Z to confirm, then it is CANCELED anyway.',
    given: about(
      { execState: 'CANCELING' },
      { transitions: [step('cancel', 'key abc', 'CANCELING')], timesOutAt: at + minute },
    ),
  },
]

const ends: [ExecutionEvent, ExecState, string][] = [
  ['succeed', 'SUCCEEDED', 'SUCCEEDED: reported by the device at 2026-11-15T03:00:00Z.'],
  ['fail', 'FAILED', 'FAILED: reported by the device at 2026-11-15T03:00:00Z.'],
  ['reject', 'REJECTED', 'REJECTED: refused by the device at 2026-11-15T03:00:00Z.'],
  ['expire', 'EXPIRED', 'EXPIRED at 2026-11-15T03:00:00Z: waited longer than expireAfterSeconds allows.'],
  [
    'time-out',
    'TIMED_OUT',
    'TIMED_OUT at 2026-11-15T03:00:00Z: the device worked longer than timeoutSeconds, or its own step timeout, allows.',
  ],
  [
    'miss-deadline',
    'TIMED_OUT',
    'TIMED_OUT at 2026-11-15T03:00:00Z: it took longer in total than deadlineSeconds allows.',
  ],
  ['cancel', 'CANCELED', 'CANCELED by key abc at 2026-11-15T03:00:00Z.'],
  ['force-cancel', 'CANCELED', 'CANCELED by force by key abc at 2026-11-15T03:00:00Z.'],
  ['remove-device', 'CANCELED', 'CANCELED: the device was deleted by key abc at 2026-11-15T03:00:00Z.'],
  [
    'rollout-stopped',
    'CANCELED',
    'CANCELED at 2026-11-15T03:00:00Z: its run was stopped before this was released.',
  ],
  ['superseded', 'CANCELED', 'CANCELED at 2026-11-15T03:00:00Z: it was replaced by a later run.'],
  [
    'no-longer-matching',
    'CANCELED',
    'CANCELED at 2026-11-15T03:00:00Z: the device no longer matched the selector of its schedule.',
  ],
  [
    'confirm-cancel',
    'CANCELED',
    'CANCELED: confirmed by the device at 2026-11-15T03:00:00Z, requested by key xyz at 2026-11-15T03:00:00Z.',
  ],
  [
    'overrun-cancel',
    'CANCELED',
    'CANCELED at 2026-11-15T03:00:00Z: the device did not confirm in time, requested by key xyz at 2026-11-15T03:00:00Z.',
  ],
]
for (const [event, execState, text] of ends) {
  const canceling = step('cancel', 'key xyz', 'CANCELING')
  const transitions = event.endsWith('-cancel') ? [canceling] : []
  rows.push({
    code: 'ENDED',
    text,
    given: about(
      { execState, finishedAt: at },
      { transitions: [...transitions, step(event, 'key abc', execState)] },
    ),
  })
}

for (const { code, text, given } of rows) {
  test(`${code}: ${text}`, () => {
    assert.deepEqual([given.code, given.text], [code, text])
  })
}

test('an end after several attempts says how many; one without a history says at least when', () => {
  const third = { execState: 'FAILED', attempt: 3, finishedAt: at } as const
  const failed = about(third, { transitions: [step('fail', 'device', 'FAILED')] })
  assert.equal(failed.text, 'FAILED: reported by the device at 2026-11-15T03:00:00Z, after 3 attempts.')
  const reason = { ...step('fail', 'device', 'FAILED'), reason: 'disk full' }
  assert.match(about(third, { transitions: [reason] }).text, /, after 3 attempts: disk full\.$/)
  assert.equal(about(third).text, 'FAILED at 2026-11-15T03:00:00Z.')
})

test('since, until and behind are there for programs', () => {
  const byCode = (code: ExplanationCode) => rows.find((row) => row.code === code)?.given
  assert.equal(byCode('DEVICE_OFFLINE')?.since, at + minute)
  assert.equal(byCode('WAITING_FOR_RETRY')?.until, at + minute)
  assert.equal(byCode('NOT_NOW')?.until, at + minute)
  assert.equal(byCode('BEHIND_EXECUTION')?.behind, 41)
  assert.equal(byCode('RUNNING')?.since, at)
  assert.equal(byCode('CANCEL_REQUESTED')?.until, at + minute)
  assert.equal(byCode('ENDED')?.since, at)
})

test('there is a sentence for every code, and each is one sentence', () => {
  assert.deepEqual(new Set(rows.map(({ code }) => code)), new Set(explanationCodes))
  for (const { text } of rows) assert.match(text, /^[A-Z][^\n]*[^.]\.$/)
})
