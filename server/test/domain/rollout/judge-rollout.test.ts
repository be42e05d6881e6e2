import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rollout } from '@jobcast/contract'
import fc from 'fast-check'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import type { EndedCounts } from '../../../src/domain/rollout/gate.ts'
import {
  advanceRollout,
  approveRollout,
  beginRollout,
  judgeRollout,
  pauseRollout,
  type RolloutFacts,
  type RolloutStatus,
  resumeRollout,
} from '../../../src/domain/rollout/judge-rollout.ts'

const at = (seconds: number) => steadyInstant(seconds * 1000)

type Given = {
  rollout?: Rollout
  sizes?: number[]
  run?: EndedCounts
  wave?: EndedCounts
  canceled?: number[]
  confirmed?: number
  inFlight?: number
}

function facts(
  seconds: number,
  { rollout = {}, sizes = [2, 3], run, wave = {}, canceled, confirmed = 0, inFlight = 0 }: Given = {},
): RolloutFacts {
  return { rollout, sizes, run: run ?? wave, wave, canceled, confirmed, inFlight, now: at(seconds) }
}

function begun(given: Given = {}): RolloutStatus {
  return judgeRollout(beginRollout((given.sizes ?? [2, 3]).length, at(0)), facts(0, given)).status
}

function seen({ state, wave, released, pausedBecause }: RolloutStatus) {
  return pausedBecause === null ? [state, wave + 1, released] : [state, wave + 1, released, pausedBecause]
}

const succeeded = (SUCCEEDED: number) => ({ SUCCEEDED })
const failed = (FAILED: number, SUCCEEDED = 0) => ({ FAILED, SUCCEEDED })

test('one wave without a rate is released at once', () => {
  assert.deepEqual(seen(begun({ sizes: [7] })), ['RELEASED', 1, 7])
})

test('the first wave is released, the second only when all of the first has succeeded', () => {
  const first = begun()
  assert.deepEqual(seen(first), ['ROLLING_OUT', 1, 2])
  assert.deepEqual(seen(judgeRollout(first, facts(1, { wave: succeeded(1) })).status), ['ROLLING_OUT', 1, 2])
  assert.deepEqual(seen(judgeRollout(first, facts(1, { wave: succeeded(2) })).status), ['RELEASED', 2, 5])
})

test('by default a canary that fails stops the rollout, whatever else the gate says', () => {
  for (const next of [undefined, { soakSeconds: 60 }, { action: 'PAUSE' as const }]) {
    const given: Given = { sizes: [1, 2], ...(next && { rollout: { next } }) }
    const closed = judgeRollout(begun(given), facts(1, { ...given, wave: failed(1) })).status
    assert.deepEqual(seen(closed), [
      'PAUSED',
      1,
      1,
      '1 of 1 devices of wave 1 did not succeed; the gate needs 100 %',
    ])
  }
})

test('what was canceled before its wave began is not judged by the gate of that wave, what is canceled later is', () => {
  const given: Given = { sizes: [2, 3, 4], canceled: [0, 1, 0] }
  const second = judgeRollout(begun(given), facts(1, { ...given, wave: succeeded(2) })).status
  assert.deepEqual(seen(second), ['ROLLING_OUT', 2, 5])
  const after = (wave: EndedCounts) => seen(judgeRollout(second, facts(2, { ...given, wave })).status)
  assert.deepEqual(after({ CANCELED: 1, SUCCEEDED: 1 }), ['ROLLING_OUT', 2, 5])
  assert.deepEqual(after({ CANCELED: 1, SUCCEEDED: 2 }), ['RELEASED', 3, 9])
  const because = '1 of the other 2 devices of wave 2 did not succeed; the gate needs 100 %'
  assert.deepEqual(after({ CANCELED: 2, SUCCEEDED: 1 }), ['PAUSED', 2, 5, because])
  const advanced = advanceRollout(begun(given), facts(1, given))
  assert.equal(advanced?.accepted, 1)
})

test('resumed without devices of its wave, the gate judges the others, also if a person had paused it', () => {
  const given: Given = { sizes: [3, 3] }
  const paused = pauseRollout(begun(given), { rule: 'PRINCIPAL', because: 'x', by: 'key:a' })
  const wave = { CANCELED: 1, SUCCEEDED: 2 }
  const after = (excluded: number) =>
    seen(
      judgeRollout(
        resumeRollout(paused, facts(2, { ...given, wave }), excluded),
        facts(3, { ...given, wave }),
      ).status,
    )
  assert.deepEqual(after(1), ['RELEASED', 2, 6])
  assert.deepEqual(after(0).slice(0, 2), ['PAUSED', 1])
})

test('a gate that can no longer open pauses the run at once, with what it needs and what is possible', () => {
  const given: Given = { sizes: [5, 20] }
  const wave = { FAILED: 1, TIMED_OUT: 1, SUCCEEDED: 1, IN_PROGRESS: 2 }
  const { pausedBecause, pausedBy, pausedCause, state } = judgeRollout(
    begun(given),
    facts(1, { ...given, wave }),
  ).status
  assert.deepEqual([state, pausedBy], ['PAUSED', 'gate'])
  assert.equal(pausedBecause, '2 of 5 devices of wave 1 did not succeed; the gate needs 100 %')
  const { rule, wave: number, needed, possible, count, of } = pausedCause ?? {}
  assert.deepEqual([rule, number, needed, possible, count, of], ['GATE_CLOSED', 1, 5, 3, 2, 'WAVE'])
})

test('a gate closes while its wave is still being released, and never in the last wave', () => {
  const given: Given = { rollout: { ratePerMinute: 60 }, sizes: [3, 3] }
  const first = begun(given)
  assert.equal(first.released, 1)
  assert.equal(judgeRollout(first, facts(1, { ...given, wave: failed(1) })).status.state, 'PAUSED')
  const last = advanceRollout(first, { sizes: [3, 3], now: at(1) }) as RolloutStatus
  assert.equal(judgeRollout(last, facts(2, { ...given, wave: failed(1) })).status.state, 'ROLLING_OUT')
})

test('a share has fractions of a percent: 99.9 % of 1,000 devices may miss one, not two', () => {
  const given: Given = { rollout: { next: { succeededPercent: 99.9 } }, sizes: [1000, 1] }
  const first = begun(given)
  const after = (wave: EndedCounts) => judgeRollout(first, facts(1, { ...given, wave })).status.state
  assert.deepEqual([after(failed(1, 998)), after(failed(1, 999))], ['ROLLING_OUT', 'RELEASED'])
  assert.equal(after(failed(2, 900)), 'PAUSED')
  const stop: Given = { rollout: { stop: [{ on: ['FAILED'], percent: 0.1 }] }, sizes: [5000] }
  const running = { ...begun(stop), state: 'ROLLING_OUT' as const }
  const stopped = (run: EndedCounts) => judgeRollout(running, facts(1, { ...stop, run })).status.state
  assert.deepEqual([stopped(failed(1, 1000)), stopped(failed(1, 999))], ['RELEASED', 'PAUSED'])
})

test('who resumes a closed gate accepts what failed: the others must succeed, and a further failure pauses again', () => {
  const given: Given = { sizes: [5, 20] }
  const paused = judgeRollout(begun(given), facts(1, { ...given, wave: failed(2, 1) })).status
  const resumed = resumeRollout(paused, facts(2, { ...given, wave: failed(2, 1) }))
  const after = (wave: EndedCounts) => seen(judgeRollout(resumed, facts(3, { ...given, wave })).status)
  assert.deepEqual(after(failed(2, 2)), ['ROLLING_OUT', 1, 5])
  assert.deepEqual(after(failed(2, 3)), ['RELEASED', 2, 25])
  assert.deepEqual(after(failed(3, 2)), [
    'PAUSED',
    1,
    5,
    '1 of the other 3 devices of wave 1 did not succeed; the gate needs 100 %',
  ])
  const second = advanceRollout(resumed, { sizes: [5, 20], now: at(9) })
  assert.deepEqual([second?.wave, second?.accepted], [1, 0])
})

test('who resumes what a person has paused accepts nothing that failed meanwhile', () => {
  const given: Given = { sizes: [1, 20] }
  const paused = pauseRollout(begun(given), { rule: 'PRINCIPAL', because: 'it was asked for', by: 'key:k' })
  const resumed = resumeRollout(paused, facts(2, { ...given, wave: failed(1) }))
  assert.equal(judgeRollout(resumed, facts(3, { ...given, wave: failed(1) })).status.state, 'PAUSED')
})

test('no more than maxUnderWay are released and unfinished, over waves and with a rate', () => {
  const given: Given = { rollout: { maxUnderWay: 3 }, sizes: [2, 8] }
  assert.equal(begun(given).released, 2)
  const second = judgeRollout(begun(given), facts(1, { ...given, wave: succeeded(2) })).status
  assert.deepEqual(seen(second), ['ROLLING_OUT', 2, 5])
  const released = (inFlight: number) =>
    judgeRollout(second, facts(2, { ...given, inFlight })).status.released
  assert.deepEqual([released(3), released(2), released(0), released(4)], [5, 6, 8, 5])
  const paced: Given = { rollout: { maxUnderWay: 2, ratePerMinute: 600 }, sizes: [10] }
  const first = judgeRollout(beginRollout(1, at(0)), facts(0, paced)).status
  const full = judgeRollout(first, facts(1, { ...paced, inFlight: 1 }))
  assert.deepEqual([first.released, full.status.released, full.nextAt], [1, 2, null])
  assert.deepEqual(judgeRollout(full.status, facts(9, { ...paced, inFlight: 2 })).status, full.status)
})

test('of several stop rules that are met the hardest action wins, also over a closed gate and in a pause', () => {
  const stop: Rollout['stop'] = [
    { on: ['FAILED'], count: 1 },
    { on: ['FAILED'], count: 2, action: 'ABORT' },
  ]
  const given: Given = { rollout: { stop }, sizes: [9, 9] }
  const both = judgeRollout(begun(given), facts(1, { ...given, wave: failed(2) })).status
  assert.deepEqual([both.state, both.pausedCause?.stopRule], ['ABORTED', 2])
  const one = judgeRollout(begun(given), facts(1, { ...given, wave: failed(1) })).status
  assert.deepEqual([one.state, one.pausedCause?.stopRule], ['PAUSED', 1])
  const later = judgeRollout(one, facts(2, { ...given, wave: failed(2) })).status
  assert.deepEqual([later.state, later.pausedCause?.stopRule], ['ABORTED', 2])
})

test('with succeededPercent only successes open the gate, and offline devices have not ended', () => {
  const given: Given = { rollout: { next: { succeededPercent: 80 } }, sizes: [10, 5] }
  const first = begun(given)
  const after = (wave: EndedCounts) => seen(judgeRollout(first, facts(1, { ...given, wave })).status)
  assert.deepEqual(after(failed(3, 7)).slice(0, 3), ['PAUSED', 1, 10])
  assert.deepEqual(after(failed(0, 7)), ['ROLLING_OUT', 1, 10])
  assert.deepEqual(after(failed(2, 8)), ['RELEASED', 2, 15])
})

test('a device that says SUCCEEDED but reports otherwise does not open the gate', () => {
  const given: Given = { rollout: { next: { succeededPercent: 100, where: 'fw=2' } }, wave: succeeded(2) }
  const first = begun({ ...given, wave: {} })
  assert.deepEqual(seen(judgeRollout(first, facts(1, { ...given, confirmed: 1 })).status), [
    'ROLLING_OUT',
    1,
    2,
  ])
  assert.deepEqual(seen(judgeRollout(first, facts(1, { ...given, confirmed: 2 })).status), ['RELEASED', 2, 5])
})

test('the conditions must hold for the soak time, from its beginning if they did not', () => {
  const given: Given = {
    rollout: { next: { succeededPercent: 100, where: 'x=1', soakSeconds: 60 } },
    wave: succeeded(2),
  }
  let { status, nextAt } = judgeRollout(begun({ ...given, wave: {} }), facts(10, { ...given, confirmed: 2 }))
  assert.deepEqual([status.wave, nextAt], [0, at(70)])
  status = judgeRollout(status, facts(40, { ...given, confirmed: 1 })).status
  ;({ status, nextAt } = judgeRollout(status, facts(50, { ...given, confirmed: 2 })))
  assert.equal(nextAt, at(110))
  assert.equal(judgeRollout(status, facts(109, { ...given, confirmed: 2 })).status.wave, 0)
  assert.deepEqual(seen(judgeRollout(status, facts(110, { ...given, confirmed: 2 })).status), [
    'RELEASED',
    2,
    5,
  ])
})

test('what a rate releases is judged wave by wave, and the first execution of a wave does not wait', () => {
  const given: Given = { rollout: { ratePerMinute: 60 }, sizes: [2, 10] }
  let { status, nextAt } = judgeRollout(beginRollout(2, at(0)), facts(0, given))
  assert.deepEqual([status.released, nextAt], [1, at(1)])
  ;({ status, nextAt } = judgeRollout(status, facts(1.5, given)))
  assert.deepEqual([status.released, nextAt], [2, null])
  ;({ status, nextAt } = judgeRollout(status, facts(100, { ...given, wave: succeeded(2) })))
  assert.deepEqual([...seen(status), nextAt], ['ROLLING_OUT', 2, 3, at(101)])
})

test('a gate that somebody approves or advances is not made up for', () => {
  const given: Given = { rollout: { ratePerMinute: 600, next: { action: 'APPROVAL' } }, sizes: [2, 1000] }
  let status = judgeRollout(begun(given), facts(1, given)).status
  status = judgeRollout(status, facts(2, { ...given, wave: succeeded(2) })).status
  assert.equal(status.state, 'AWAITING_APPROVAL')
  const approved = approveRollout(status, { sizes: [2, 1000], digest: 'd', now: at(60) })
  assert.deepEqual(seen(judgeRollout(approved, facts(60, given)).status), ['ROLLING_OUT', 2, 3])
  const advanced = advanceRollout(status, { sizes: [2, 1000], now: at(60) }) as RolloutStatus
  assert.deepEqual(seen(judgeRollout(advanced, facts(60, given)).status), ['ROLLING_OUT', 2, 3])
})

test('the rate grows with what has succeeded', () => {
  const rollout: Rollout = { ratePerMinute: 60, growth: { factor: 2, afterSucceeded: 10 } }
  const given: Given = { rollout, sizes: [1000] }
  const status = judgeRollout(beginRollout(1, at(0)), facts(0, given)).status
  const after = (run: EndedCounts) => judgeRollout(status, facts(1.5, { ...given, run })).status.released
  assert.deepEqual([after(succeeded(9)), after(succeeded(10)), after(succeeded(20))], [2, 4, 6])
})

test('a stop rule pauses, names what it counted, and nothing more is released', () => {
  const rollout: Rollout = { stop: [{ on: ['FAILED', 'TIMED_OUT'], percent: 50, minEnded: 4 }] }
  const given: Given = { rollout, sizes: [10, 10] }
  const first = begun(given)
  const after = (run: EndedCounts) => judgeRollout(first, facts(1, { ...given, run })).status
  assert.equal(after(failed(3)).state, 'ROLLING_OUT')
  assert.equal(after(failed(1, 9)).state, 'ROLLING_OUT')
  const paused = after(failed(2, 2))
  assert.deepEqual(seen(paused), [
    'PAUSED',
    1,
    10,
    '2 of 4 ended executions of the run are FAILED or TIMED_OUT',
  ])
  assert.deepEqual(judgeRollout(paused, facts(9, { ...given, run: failed(9) })).status, paused)
})

test('a rule of the wave does not count earlier waves, and ABORT ends the rollout', () => {
  const stop: Rollout['stop'] = [{ on: ['FAILED'], count: 2, of: 'WAVE', action: 'ABORT' }]
  const rollout: Rollout = { next: { succeededPercent: 50 }, stop }
  const first = begun({ rollout })
  const second = judgeRollout(first, facts(1, { rollout, wave: failed(1, 1) })).status
  assert.equal(second.wave, 1)
  const third: Given = { rollout, sizes: [2, 3, 9], run: failed(3), wave: failed(2) }
  const running = {
    ...second,
    state: 'ROLLING_OUT' as const,
    waves: [...second.waves, { startedAt: null, passedAt: null }],
  }
  assert.equal(judgeRollout(running, facts(2, { ...third, wave: failed(1) })).status.state, 'ROLLING_OUT')
  assert.equal(judgeRollout(running, facts(2, third)).status.state, 'ABORTED')
})

test('who resumes has seen what failed: rules count from zero again from there', () => {
  const rollout: Rollout = { next: { succeededPercent: 50 }, stop: [{ on: ['FAILED'], count: 2 }] }
  const given: Given = { rollout, sizes: [9, 9] }
  const paused = judgeRollout(begun(given), facts(1, { ...given, run: failed(2) })).status
  const resumed = resumeRollout(paused, facts(2, { ...given, run: failed(2), wave: failed(2) }))
  assert.equal(
    judgeRollout(resumed, facts(3, { ...given, run: failed(3), wave: failed(3) })).status.state,
    'ROLLING_OUT',
  )
  assert.equal(
    judgeRollout(resumed, facts(3, { ...given, run: failed(4), wave: failed(4) })).status.state,
    'PAUSED',
  )
})

test('a gate may be followed by a pause or an approval; continuing begins the next wave', () => {
  for (const [action, state] of [['PAUSE', 'PAUSED'] as const, ['APPROVAL', 'AWAITING_APPROVAL'] as const]) {
    const given: Given = { rollout: { next: { action } }, wave: succeeded(2) }
    const held = judgeRollout(begun({ ...given, wave: {} }), facts(1, given)).status
    assert.deepEqual([held.state, held.wave, held.released], [state, 0, 2])
    const resumed = resumeRollout(held, facts(2, given))
    assert.deepEqual([resumed.state, resumed.wave], ['ROLLING_OUT', 1])
    assert.deepEqual(seen(judgeRollout(resumed, facts(2, { ...given, wave: {} })).status), ['RELEASED', 2, 5])
  }
})

test('a gate that stays closed too long pauses the run, and again so long after it was resumed', () => {
  const given: Given = { rollout: { next: { succeededPercent: 100, giveUpAfterSeconds: 30 } } }
  const first = begun(given)
  assert.equal(judgeRollout(first, facts(29, given)).nextAt, at(30))
  const paused = judgeRollout(first, facts(30, given)).status
  assert.deepEqual(seen(paused), ['PAUSED', 1, 2, 'the gate of wave 1 has not opened for 30 seconds'])
  const resumed = resumeRollout(paused, facts(100, given))
  assert.equal(judgeRollout(resumed, facts(129, given)).status.state, 'ROLLING_OUT')
  assert.equal(judgeRollout(resumed, facts(130, given)).status.state, 'PAUSED')
})

test('advance begins the next wave now, and there is none after the last', () => {
  const advanced = advanceRollout(begun(), { sizes: [2, 3], now: at(5) })
  assert.deepEqual(advanced && seen(advanced), ['ROLLING_OUT', 2, 2])
  assert.equal(advanced && advanceRollout(advanced, { sizes: [2, 3], now: at(6) }), undefined)
})

test('whatever ends and whenever it is judged: never backwards, never past the wave, never past a closed gate', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
  const rollout = fc.record<Rollout>(
    {
      ratePerMinute: fc.integer({ min: 1, max: 600 }),
      next: fc.record(
        { succeededPercent: fc.integer({ min: 1, max: 100 }), soakSeconds: fc.integer({ min: 1, max: 50 }) },
        { requiredKeys: [] },
      ),
      stop: fc.constant([{ on: ['FAILED' as const], count: 3 }]),
    },
    { requiredKeys: [] },
  )
  const steps = fc.array(
    fc.record({ seconds: fc.integer({ min: 0, max: 40 }), ok: fc.nat(5), bad: fc.nat(1) }),
    {
      maxLength: 40,
    },
  )
  fc.assert(
    fc.property(sizes, rollout, steps, (sizes, rollout, steps) => {
      const ends = sizes.map(() => ({ SUCCEEDED: 0, FAILED: 0 }))
      const startOf = (wave: number) => sizes.slice(0, wave).reduce((total, size) => total + size, 0)
      let status = beginRollout(sizes.length, at(0))
      let seconds = 0
      for (const { seconds: later, ok, bad } of steps) {
        seconds += later
        const wave = ends[status.wave] ?? { SUCCEEDED: 0, FAILED: 0 }
        let open = status.released - startOf(status.wave) - wave.SUCCEEDED - wave.FAILED
        const good = Math.min(ok, open)
        open -= good
        wave.SUCCEEDED += good
        wave.FAILED += Math.min(bad, open)
        const run = { SUCCEEDED: 0, FAILED: 0 }
        for (const each of ends) {
          run.SUCCEEDED += each.SUCCEEDED
          run.FAILED += each.FAILED
        }
        const given = { rollout, sizes, run, wave, confirmed: 0, inFlight: 0, now: at(seconds) }
        const before = status
        status = judgeRollout(status, given).status
        assert.ok(status.released >= before.released)
        assert.ok(status.released <= startOf(status.wave + 1))
        if (before.state !== 'ROLLING_OUT') assert.deepEqual(status, before)
        if (status.wave > before.wave) {
          assert.equal(status.wave, before.wave + 1)
          assert.equal(before.released <= startOf(before.wave + 1), true)
          const size = sizes[before.wave] ?? 0
          const needed = rollout.next?.succeededPercent ?? 100
          assert.ok(wave.SUCCEEDED * 100 >= needed * size)
        }
        if (rollout.stop && run.FAILED >= 3) assert.notEqual(status.state, 'ROLLING_OUT')
        if (status.state === 'RELEASED') assert.equal(status.released, startOf(sizes.length))
      }
    }),
    { numRuns: 300 },
  )
})
