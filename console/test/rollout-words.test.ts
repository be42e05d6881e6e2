import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsOfGate, waitsOfGate } from '../src/rollout/gate-words.ts'
import { emptyRollout, releaseOf, withSizes } from '../src/rollout/rollout-draft.ts'
import { ruleInWords, type StopRule } from '../src/rollout/rule-words.ts'

test('a gate shows its unmet conditions, and its requirements', () => {
  const next = { succeededPercent: 95, where: 'fw=2.4.1', soakSeconds: 3600, action: 'APPROVAL' } as const
  assert.deepEqual(needsOfGate(), ['100 % must succeed'])
  assert.deepEqual(needsOfGate(next), ['95 % must report fw=2.4.1', 'soak 1 h', 'then awaits approval'])
  const gate = { needed: 10, succeeded: 7, possible: 10, offline: 2 }
  assert.deepEqual(waitsOfGate(next, gate, undefined), [
    '7 of 10 report fw=2.4.1',
    '2 offline',
    'soak 1 h',
    'then awaits approval',
  ])
  const soaking = { needed: 10, succeeded: 10, possible: 10, offline: 0 }
  assert.deepEqual(waitsOfGate({ soakSeconds: 3600 }, soaking, (41 * 60 + 12) * 1000), [
    '10 of 10 succeeded',
    'soak 00:41:12 left',
  ])
  assert.deepEqual(waitsOfGate({}, { needed: 3, succeeded: 1, possible: 2, offline: 0 }, undefined), [
    '1 of 3 succeeded',
    'only 2 still can',
  ])
  assert.deepEqual(waitsOfGate({ action: 'PAUSE', giveUpAfterSeconds: 86_400 }, gate, undefined), [
    '7 of 10 succeeded',
    '2 offline',
    'then pauses',
    'pauses if closed for 1 d',
  ])
})

test('a stop rule shows how near it is', () => {
  const words = (rule: StopRule, count: number, ended: number) =>
    ruleInWords(rule, { count, ended }, ended === 0 ? 0 : (count * 100) / ended)
  assert.equal(words({ on: ['FAILED'], percent: 5 }, 6, 110), '6 of 110 failed (5.5 %), pauses at 5 %')
  assert.equal(
    words({ on: ['FAILED', 'TIMED_OUT', 'REJECTED'], percent: 5, minEnded: 20 }, 0, 3),
    '0 of 3 failed, timed out or rejected, pauses at 5 % once 20 have ended',
  )
  assert.equal(
    words({ on: ['FAILED'], count: 3, of: 'WAVE', action: 'ABORT' }, 2, 40),
    '2 failed in the current wave, aborts at 3',
  )
})

test('moved, added or removed gates change the waves of the draft', () => {
  const draft = { ...emptyRollout, isOn: true, soak: '1 h' }
  const wavesOf = (sizes: number[], from = draft) => {
    const changed = withSizes(from, sizes)
    return [releaseOf(changed).rollout?.waves?.map(({ size }) => size), changed.canary, changed.soak]
  }
  assert.deepEqual(wavesOf([5, 95]), [[5, '100%'], '', '1 h'])
  assert.deepEqual(wavesOf([5, 45, 50], { ...draft, canary: '9' }), [[5, 45, '100%'], '5', '1 h'])
  assert.deepEqual(wavesOf([7, 93], { ...draft, canary: '9', waves: '50%, 100%' }), [[7, '100%'], '7', '1 h'])
  assert.deepEqual(wavesOf([100], { ...draft, canary: '9' }), [undefined, '', '1 h'])
})
