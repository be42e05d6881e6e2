import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecState } from '@jobcast/contract'
import { explainEnd } from '../../../src/domain/execution/explain-end.ts'
import type { StoredTransition } from '../../../src/domain/execution/ports/executions.ts'

const finishedAt = Date.parse('2026-11-18T02:00:00.500Z')
const when = '2026-11-18T02:00:00Z'

const step = (event: StoredTransition['event'], more: Partial<StoredTransition> = {}): StoredTransition => ({
  ...{ at: finishedAt, from: 'IN_PROGRESS', to: 'CANCELED', event, actor: 'device', actorName: null },
  ...{ attempt: 1, versionNumber: 2, statusDetails: {}, reason: null },
  ...more,
})
const explain = (execState: ExecState, transitions: StoredTransition[], attempt = 1) =>
  explainEnd({ execState, attempt, finishedAt }, transitions)
const byKey = { actor: 'key k1', actorName: 'ci' }

const cases: [string, string][] = [
  [explain('SUCCEEDED', [step('succeed')]), `SUCCEEDED: reported by the device at ${when}.`],
  [
    explain('FAILED', [step('fail', { reason: 'disk full' })], 3),
    `FAILED: reported by the device at ${when}, after 3 attempts: disk full.`,
  ],
  [explain('REJECTED', [step('reject')]), `REJECTED: refused by the device at ${when}.`],
  [explain('CANCELED', [step('cancel', byKey)]), `CANCELED by key ci at ${when}.`],
  [explain('CANCELED', [step('force-cancel', byKey)]), `CANCELED by force by key ci at ${when}.`],
  [
    explain('CANCELED', [step('force-cancel', { reason: 'it has no site' })]),
    `CANCELED at ${when}: it has no site.`,
  ],
  [
    explain('CANCELED', [step('cancel', byKey), step('confirm-cancel')]),
    `CANCELED: confirmed by the device at ${when}, requested by key ci at ${when}.`,
  ],
  [
    explain('CANCELED', [step('cancel', { actor: 'key k1' }), step('overrun-cancel', { actor: 'clock' })]),
    `CANCELED at ${when}: the device did not confirm in time, requested by key k1 at ${when}.`,
  ],
  [explain('FAILED', []), `FAILED at ${when}.`],
]
for (const [text, expected] of cases) test(expected, () => assert.equal(text, expected))

test('an end whose time is not known says so', () => {
  const text = explainEnd({ execState: 'EXPIRED', attempt: 1, finishedAt: null }, [])
  assert.equal(text, 'EXPIRED at an unknown time.')
})
