import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approval, Rollout } from '@jobcast/contract'
import { lineageOf } from '../../../src/domain/access/lineage.ts'
import type { StoredApiKey } from '../../../src/domain/access/ports/api-keys.ts'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import {
  approvalUnder,
  countedDecisions,
  weakensApproval,
  withDecision,
} from '../../../src/domain/rollout/approval.ts'
import {
  approveRollout,
  askAgain,
  beginRollout,
  pauseRollout,
  waitFor,
} from '../../../src/domain/rollout/judge-rollout.ts'
import { weakensGate } from '../../../src/domain/rollout/patch-rollout.ts'

const now = steadyInstant(5)
const gates: Rollout = { waves: [{ size: 1 }, { size: '100%' }], next: { action: 'APPROVAL' } }

test('keys that were created one from another are one principal, unless an administrator created them', async () => {
  const keys: Record<string, [createdBy: string | null, scope?: 'ADMIN']> = {
    admin: ['operator', 'ADMIN'],
    second: ['key:admin', 'ADMIN'],
    a: ['key:admin'],
    aa: ['key:a'],
    aaa: ['key:aa'],
    ab: ['key:a'],
    b: ['key:second'],
    old: [null],
    ofOld: ['key:old'],
    orphan: ['key:gone'],
    sibling: ['key:gone'],
    person: ['user:anna'],
    one: ['key:two'],
    two: ['key:one'],
  }
  const findApiKey = ({ keyId }: { keyId: string }) => {
    const [createdBy, scope] = keys[keyId] ?? []
    return createdBy === undefined
      ? undefined
      : ({ createdBy, scopes: scope ? [scope] : [] } as never as StoredApiKey)
  }
  const of = (keyId: string) => lineageOf({ findApiKey }, `key:${keyId}`)
  for (const each of ['a', 'aa', 'aaa', 'ab']) assert.equal(await of(each), 'key:a')
  for (const own of ['admin', 'second', 'b', 'old']) assert.equal(await of(own), `key:${own}`)
  assert.deepEqual([await of('ofOld'), await of('person')], ['key:old', 'user:anna'])
  assert.equal(await of('orphan'), await of('sibling'))
  // Nothing makes such a circle; it ends all the same.
  assert.ok(await of('one'))
})

test('a run needs as many approvals as it or its job asks for, and one for gates that it leaves out', () => {
  const cases: [job: object, run: object, needed: Approval][] = [
    [{}, {}, false],
    [{ approval: true }, {}, true],
    [{ approval: true }, { approval: { required: 3 } }, { required: 3 }],
    [{ approval: { required: 2 } }, { approval: true }, { required: 2 }],
    [{ approval: { required: 1 } }, { approval: false }, true],
    [{ rollout: gates }, { rollout: gates }, false],
    [{ rollout: gates }, { rollout: {} }, true],
    [{ rollout: gates }, { rollout: { ...gates, waves: [{ size: '100%' }] } }, true],
    [{ rollout: gates }, { rollout: { ...gates, waves: [{ size: '100%' }, { size: '100%' }] } }, true],
    [{ rollout: gates }, { rollout: { ...gates, waves: [{ size: 2 }, { size: '100%' }] } }, true],
    [
      { rollout: gates },
      { rollout: { ...gates, waves: [{ size: 1 }, { size: 2 }, { size: '100%' }] } },
      false,
    ],
    [{ rollout: { next: gates.next } }, { rollout: {} }, false],
    [{ rollout: gates, approval: { required: 2 } }, { rollout: {} }, { required: 2 }],
  ]
  for (const [job, run, needed] of cases) {
    assert.deepEqual(approvalUnder(job, run), needed, JSON.stringify([job, run]))
    assert.equal(weakensApproval({ approval: approvalUnder(job, run) }, { approval: needed }), false)
  }
})

test('runs need approvals as early as before: fewer, weaker or later gates are fewer approvals', () => {
  const next = { action: 'APPROVAL', succeededPercent: 90, soakSeconds: 60, where: 'fw=2' } as const
  const waves = [{ size: 5, where: 'tag=canary' }, { size: '10%' }, { size: '100%' }]
  const before: Rollout = { waves, next }
  const [canary, tenth, rest] = waves as [object, object, object]
  const weaker: Rollout[] = [
    {},
    { waves },
    { waves, next: { ...next, action: 'PAUSE' } },
    { waves, next: { ...next, succeededPercent: 89 } },
    { waves, next: { ...next, soakSeconds: 59 } },
    { waves, next: { ...next, where: 'fw=3' } },
    { waves, next: { action: 'APPROVAL' } },
    { next },
    ...[
      [canary, rest],
      [tenth, canary, rest],
      [{ size: 5 }, tenth, rest],
      [{ size: 5, where: 'online' }, tenth, rest],
      [{ size: 6, where: 'tag=canary' }, tenth, rest],
      [{ size: '1%', where: 'tag=canary' }, tenth, rest],
      [canary, { size: '10.1%' }, rest],
      [canary, { size: 1 }, rest],
    ].map((each) => ({ waves: each as Rollout['waves'] & object, next })),
  ]
  const asStrict: Rollout[] = [
    before,
    { waves, next: { ...next, succeededPercent: 100, soakSeconds: 61 }, ratePerMinute: 5 },
    ...[
      [canary, tenth, tenth, rest],
      [canary, { size: '9.5%' }, rest],
      [{ size: 1, where: 'tag=canary' }, tenth, { size: 3 }, rest],
    ].map((each) => ({ waves: each as Rollout['waves'] & object, next })),
  ]
  for (const approval of [false, true, { required: 2 }]) {
    const weakens = (rollout: Rollout) =>
      weakensApproval({ approval, rollout: before }, { approval, rollout })
    for (const rollout of weaker) assert.ok(weakens(rollout), JSON.stringify(rollout))
    for (const rollout of asStrict) assert.equal(weakens(rollout), false, JSON.stringify(rollout))
  }
  // An approval at the begin takes the place of no gate.
  assert.ok(weakensApproval({ rollout: before }, { approval: true }))
  assert.equal(weakensApproval({ rollout: { waves } }, {}), false)
})

test('a gate is weakened by what takes it away, moves it behind more devices, or opens it sooner', () => {
  const next = { action: 'APPROVAL', succeededPercent: 90, soakSeconds: 60, where: 'fw=2' } as const
  const before = { rollout: { next }, sizes: [1, 2, 3] }
  const rolling = { wave: 0, state: 'ROLLING_OUT' } as const
  const weakens = (
    change: object,
    sizes = before.sizes,
    status: Parameters<typeof weakensGate>[2] = rolling,
  ) => weakensGate(before, { rollout: { next: { ...next, ...change } }, sizes }, status)
  const weaker = [
    { action: 'PAUSE' },
    { action: undefined },
    { succeededPercent: 89 },
    { soakSeconds: 59 },
    { where: 'all' },
  ]
  for (const change of weaker) assert.ok(weakens(change), JSON.stringify(change))
  for (const change of [{}, { succeededPercent: 95 }, { soakSeconds: 61 }, { giveUpAfterSeconds: 5 }])
    assert.equal(weakens(change), false, JSON.stringify(change))
  assert.deepEqual(
    [weakens({}, [1, 5]), weakens({}, [1, 3, 2]), weakens({}, [1, 1, 1, 3])],
    [true, true, false],
  )
  const waiting = { wave: 0, state: 'AWAITING_APPROVAL' } as const
  assert.deepEqual([weakens({}, [1, 5], waiting), weakens({}, [1, 3, 2], waiting)], [true, false])
  // There is none behind the last wave.
  assert.equal(weakens({ action: 'PAUSE' }, before.sizes, { ...rolling, wave: 2 }), false)
  assert.equal(weakensGate({ rollout: {}, sizes: [1, 1] }, { rollout: {}, sizes: [2] }, rolling), false)
})

test('what was approved and has changed waits again, and then is what it was', () => {
  const decision = {
    principal: 'key:b',
    lineage: 'key:b',
    at: 1,
    decision: 'APPROVED',
    comment: null,
    counts: true,
  } as const
  const asked = { approval: { required: 2 } }
  const waiting = withDecision(waitFor('AWAITING_APPROVAL', 2), decision)
  assert.equal(countedDecisions(waiting, undefined).length, 1)
  const changed = askAgain(waiting, asked)
  assert.deepEqual([changed.state, countedDecisions(changed, undefined).length], ['AWAITING_APPROVAL', 0])
  const approved = approveRollout(waiting, { sizes: [1, 1], digest: 'x', now })
  assert.deepEqual([approved.state, approved.approval?.digest, approved.wave], ['ROLLING_OUT', 'x', 0])
  const again = askAgain(approved, asked)
  assert.deepEqual([again.state, again.approval?.digest], ['AWAITING_APPROVAL', null])
  const goesOn = approveRollout(again, { sizes: [1, 1], digest: 'y', now })
  assert.deepEqual([goesOn.state, goesOn.wave, goesOn.approval?.returnsTo], ['ROLLING_OUT', 0, null])
  const paused = pauseRollout(approved, { rule: 'PRINCIPAL', because: 'why', by: 'key:c' })
  const back = approveRollout(askAgain(paused, asked), { sizes: [1, 1], digest: 'y', now })
  assert.deepEqual([back.state, back.pausedBecause], ['PAUSED', 'why'])
  // There is no approval, and none is required.
  assert.equal(askAgain(beginRollout(2, now), { approval: false }).state, 'ROLLING_OUT')
  let many = waiting
  for (let count = 0; count < 200; count++) many = withDecision(many, decision)
  assert.equal(many.approval?.decisions.length, 100)
})
