import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDetails } from '../../../src/domain/audit/audit-entry.ts'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { findDevices, judgeKey, newRun } from '../../../src/domain/trigger/launch-run.ts'
import type { Trigger } from '../../../src/domain/trigger/trigger.ts'

const trigger: Trigger = {
  ...{ ownerNo: 1, jobName: 'j', deviceIds: ['a', 'b'], launchedAt: 5, clock: steadyInstant(1000) },
  ...{ keyId: 'k1', retryOf: null, idempotency: null },
}

test('devices come in the order of the trigger; one unknown device refuses it and is named', () => {
  const known = new Map([
    ['b', { namedBy: 0 }],
    ['a', { namedBy: 0 }],
  ])
  const [a, b] = [known.get('a'), known.get('b')]
  const find = (deviceIds: string[]) => findDevices({ ...trigger, deviceIds }, (id) => known.get(id))
  const found = find(['a', 'b'])
  assert.ok(Array.isArray(found) && found[0] === a && found[1] === b)
  const again = find(['b', 'a', 'b', 'b', 'a'])
  assert.ok(Array.isArray(again) && again.length === 2 && again[0] === b && again[1] === a)
  known.delete('b')
  assert.deepEqual(find(['a', 'b', 'b']), { kind: 'unknown-device', deviceIds: ['b'] })
})

test('of many unknown devices a refusal names the first hundred', () => {
  const deviceIds = Array.from({ length: 250 }, (_, index) => `d${index}`)
  const refused = findDevices({ ...trigger, deviceIds }, () => undefined)
  assert.deepEqual(refused, { kind: 'unknown-device', deviceIds: deviceIds.slice(0, 100) })
})

test('a run expires and has its deadline on the steady clock, if its job says so', () => {
  const job = { jobNo: 7, versionNo: 8, expireAfterSeconds: 2, deadlineSeconds: null }
  const run = newRun(trigger, job, { runId: 3, firstExecutionId: 4 }, 2)
  assert.deepEqual(run, {
    ...{ runId: 3, firstExecutionId: 4, ownerNo: 1, jobNo: 7, jobVersion: 8, total: 2, launchedAt: 5 },
    ...{ expireAt: 3000, deadlineAt: null, keyId: 'k1', retryOf: null },
    audit: runDetails('j', 2, undefined, undefined),
  })
})

test('an idempotency key answers the same request again and refuses another one', () => {
  const stored = { requestHash: Uint8Array.of(1, 2), runId: 9 }
  assert.deepEqual(judgeKey(stored, Uint8Array.of(1, 2)), { kind: 'made-before', runId: 9 })
  assert.deepEqual(judgeKey(stored, Uint8Array.of(1, 3)), { kind: 'idempotency-key-reused' })
})
