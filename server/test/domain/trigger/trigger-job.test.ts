import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorCode, scopes } from '@jobcast/contract'
import type { Caller } from '../../../src/domain/access/caller.ts'
import { noQuotas } from '../../../src/domain/access/quotas.ts'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import type { LaunchedRun } from '../../../src/domain/trigger/launched-run.ts'
import type { Trigger, TriggerOutcome } from '../../../src/domain/trigger/trigger.ts'
import { idempotencyMs, triggerJob } from '../../../src/domain/trigger/trigger-job.ts'
import { SecretBox } from '../../../src/state/secret-box.ts'
import { OwnerTurns } from '../../../src/state/turns.ts'

const now = Date.UTC(2026, 10, 15)
const caller: Caller = { keyId: 'k', ownerNo: 7, ownerId: 'ow_7', scopes }
const run: LaunchedRun = {
  runId: 1,
  jobName: 'j',
  launchedAt: now,
  firstExecutionId: 1,
  jobVersion: 1,
  devices: [],
}

const nothingStored = {
  matchDevices: async () => [],
  getDocument: async () => ({ document: '{}' }),
  listWithoutValues: async () => [],
  listNosWithoutValues: async () => [],
  findSecrets: async () => [],
  findFiles: async () => [],
}

/** Records calls of the store; each call ends when the test decides. */
function buildDeps(room = Number.POSITIVE_INFINITY) {
  const sent: { trigger: Trigger; answer: (outcome: TriggerOutcome | Error) => void }[] = []
  const recordTrigger = (trigger: Trigger) =>
    new Promise<TriggerOutcome>((resolve, reject) => {
      const answer = (outcome: TriggerOutcome | Error) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome)
      sent.push({ trigger, answer })
    })
  const launched: [number, LaunchedRun][] = []
  const link = { launched: (ownerNo: number, run: LaunchedRun) => launched.push([ownerNo, run]) }
  const moment = () => ({ at: now, clock: steadyInstant(now + 5), chance: 0, cancelDeadlineMs: 0 })
  const settled: [number, boolean][] = []
  const quotaCounts = {
    reserve: (_quota: string, _who: unknown, count = 1) => count <= room,
    settle: (_quota: string, _who: unknown, count: number, created: boolean) =>
      settled.push([count, created]),
    used: () => 0,
  }
  const rolledOut: number[] = []
  const deps = {
    ...{ recordTrigger, moment, link, runningKeys: new Set<string>(), quotas: noQuotas, quotaCounts },
    rollouts: { judgeSoon: ({ runId }: { runId: number }) => rolledOut.push(runId) },
    matchDevices: async () => new Set<string>(),
    secretBox: new SecretBox([]),
    ownerTurns: new OwnerTurns(),
    documents: { content: () => ({ document: '{}', schema: undefined, template: undefined }) },
    store: { ...nothingStored },
  }
  return { sent, launched, settled, deps }
}

test('a trigger is recorded as it was asked for', () => {
  const { sent, deps } = buildDeps()
  void triggerJob(deps, caller, { jobName: 'j', deviceIds: ['b', 'a', 'b', 'c', 'a'] })
  assert.deepEqual(sent[0]?.trigger, {
    ownerNo: 7,
    jobName: 'j',
    deviceIds: ['b', 'a', 'b', 'c', 'a'],
    launchedAt: now,
    clock: steadyInstant(now + 5),
    keyId: 'k',
    origin: { principal: 'key:k', name: null, address: null, requestId: null },
    retryOf: null,
    idempotency: null,
  })
})

test('a device named twice counts once where room is short', async () => {
  const { sent, settled, deps } = buildDeps(2)
  const answer = triggerJob(deps, caller, { jobName: 'j', deviceIds: ['b', 'a', 'b'] })
  await new Promise(setImmediate)
  assert.equal(sent[0]?.trigger.quota, undefined)
  sent[0]?.answer({ kind: 'created', run })
  await answer
  assert.deepEqual(settled, [[2, true]])
})

const outcomes: [TriggerOutcome, ErrorCode | undefined][] = [
  [{ kind: 'created', run }, undefined],
  [{ kind: 'replayed', run }, undefined],
  [{ kind: 'idempotency-key-reused' }, 'J-501'],
  [{ kind: 'unknown-job' }, 'J-301'],
  [{ kind: 'unknown-device', deviceIds: ['x'] }, 'J-001'],
  [{ kind: 'over-quota' }, 'J-912'],
  [{ kind: 'device-over-quota', deviceIds: ['x'] }, 'J-912'],
]
for (const [outcome, code] of outcomes) {
  test(`answers ${code ?? 'the run'} when the store says ${outcome.kind}`, async () => {
    const { sent, launched, deps } = buildDeps()
    const answer = triggerJob(deps, caller, { jobName: 'j', deviceIds: ['a'] }, 'key')
    sent[0]?.answer(outcome)
    if (code) await assert.rejects(answer, { code })
    else assert.deepEqual(await answer, outcome.kind === 'replayed' ? { ...run, isReplayed: true } : run)
    assert.equal(deps.runningKeys.size, 0)
    // Devices are notified of new runs, and not again of earlier ones.
    assert.deepEqual(launched, outcome.kind === 'created' ? [[7, run]] : [])
  })
}

test('answers J-502 while a call with the same key runs, whatever it asks for, and no longer', async () => {
  const { sent, deps } = buildDeps()
  const request = { jobName: 'j', deviceIds: ['a'] }
  const first = triggerJob(deps, caller, request, 'key')
  await assert.rejects(triggerJob(deps, caller, request, 'key'), { code: 'J-502' })
  await assert.rejects(triggerJob(deps, caller, { ...request, jobName: 'k' }, 'key'), { code: 'J-502' })
  void triggerJob(deps, caller, request, 'other key')
  void triggerJob(deps, { ...caller, ownerNo: 8 }, request, 'key')
  void triggerJob(deps, caller, request)
  assert.equal(sent.length, 4)
  sent[0]?.answer(new Error('the disk is gone'))
  await assert.rejects(first, /gone/)
  void triggerJob(deps, caller, request, 'key')
  assert.equal(sent.length, 5)
})

test('a key is good for 24 hours, for what the call asks for and not for how it is spelled', () => {
  const { sent, deps } = buildDeps()
  const idempotencyOf = (request: object, key: string) => {
    void triggerJob(deps, caller, request as { jobName: string; deviceIds: string[] }, key)
    return sent.at(-1)?.trigger.idempotency
  }
  const first = idempotencyOf({ jobName: 'j', deviceIds: ['a', 'b'] }, 'k1')
  assert.equal(first?.key, 'k1')
  assert.deepEqual([first?.madeAt, first?.validAfter], [now + 5, now + 5 - idempotencyMs])
  assert.equal(idempotencyMs, 24 * 60 * 60 * 1000)
  const same = idempotencyOf({ ignored: 1, deviceIds: ['a', 'b'], jobName: 'j' }, 'k2')
  assert.deepEqual(same?.requestHash, first?.requestHash)
  for (const [index, other] of [
    { jobName: 'j', deviceIds: ['b', 'a'] },
    { jobName: 'j', deviceIds: ['a'] },
    { jobName: 'J', deviceIds: ['a', 'b'] },
    { jobName: 'j', deviceIds: ['a,b'] },
  ].entries()) {
    assert.notDeepEqual(idempotencyOf(other, `other ${index}`)?.requestHash, first?.requestHash)
  }
})

test('what was reserved is settled by what came of it; what is over the quota is asked of the store as such', async () => {
  const { sent, settled, deps } = buildDeps(2)
  const created = triggerJob(deps, caller, { jobName: 'j', deviceIds: ['a', 'b'] })
  sent[0]?.answer({ kind: 'created', run })
  await created
  const failed = triggerJob(deps, caller, { jobName: 'j', deviceIds: ['a'] })
  sent[1]?.answer(new Error('no storage'))
  await assert.rejects(failed)
  assert.deepEqual(settled, [
    [2, true],
    [1, false],
  ])
  const over = triggerJob(deps, caller, { jobName: 'j', deviceIds: ['a', 'b', 'c'] }, 'key')
  await Promise.resolve()
  assert.deepEqual(sent[2]?.trigger.quota, { isOver: true, perDevice: 0 })
  sent[2]?.answer({ kind: 'replayed', run })
  assert.deepEqual(await over, { ...run, isReplayed: true })
  assert.equal(settled.length, 2)
})
