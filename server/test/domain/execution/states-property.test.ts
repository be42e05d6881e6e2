// States only move forward, even if events are duplicated, late or lost. "node <this file> sequences=1000000" runs the long test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExecState, reportedStatuses, retriedStates } from '@jobcast/contract'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { testSize } from '@jobcast/testkit/test-size'
import { laterBy, steadyInstant } from '../../../src/domain/common/instants.ts'
import {
  afterEvent,
  afterRetryDelay,
  dueEvent,
  type ExecutionEvent,
  executionEvents,
  isActive,
  isEndedBy,
  isTerminal,
  type Life,
  type Moment,
  nextState,
  type Policy,
  type StepTimeout,
  timesOutAt,
  waitsForRetry,
} from '../../../src/domain/execution/execution.ts'
import { type Judgement, judgeReport } from '../../../src/domain/execution/judge-report.ts'
import { withSeen } from '../../../src/domain/execution/seen-reports.ts'

const sequences = testSize('sequences', { test: 5000, chaos: 300_000 })

type Report = Parameters<typeof judgeReport>[1] & { stepTimeout: StepTimeout }

const waitMs = 3000

const launchedAt = 1_000_000
const cancelDeadlineMs = 5000

class OneLife {
  readonly #random: Random
  readonly #policy: Policy
  readonly #expireAt: number | null
  #clock = steadyInstant(launchedAt)
  #life: Life
  #versionNumber = 1
  #seenReports: string | null = null
  /** The marks of accepted reports. */
  readonly #counted = new Set<string>()
  #cancelVersion: number | null = null
  /** Its device has postponed it. */
  #isOfferedAnew = false
  /** Reports in transit: any of them may arrive now, or again. */
  readonly #inFlight: Report[] = []

  constructor(random: Random) {
    this.#random = random
    const seconds = (max: number) => (random.chance(0.5) ? null : 1 + random.below(max))
    const retry = {
      max: 1 + random.below(3),
      backoffSeconds: random.below(6),
      on: random.some(retriedStates, 1 + random.below(2)),
    }
    const [expireAfterSeconds, deadlineSeconds] = [seconds(40), seconds(90)]
    this.#policy = {
      expireAfterSeconds,
      timeoutSeconds: seconds(20),
      retry: random.chance(0.7) ? retry : null,
    }
    this.#expireAt = expireAfterSeconds === null ? null : launchedAt + expireAfterSeconds * 1000
    this.#life = {
      execState: 'PENDING',
      attempt: 1,
      startedAt: null,
      finishedAt: null,
      notBefore: null,
      dueAt: null,
      deadlineAt: deadlineSeconds === null ? null : steadyInstant(launchedAt + deadlineSeconds * 1000),
      heldMs: 0,
      waitsFrom: null,
    }
  }

  live(): void {
    const steps = 5 + this.#random.below(20)
    for (let count = 0; count < steps; count++) this.#step()
    this.#waitForEnd()
  }

  #step(): void {
    const random = this.#random
    const dice = random.below(20)
    if (dice < 6) this.#inFlight.push(this.#newReport())
    else if (dice < 12 && this.#inFlight.length > 0) this.#deliver(random.below(this.#inFlight.length))
    else if (dice < 16) this.#pass(random.pick([0, 500, 1000, 4000, 15_000]))
    else if (dice < 18) this.#take(random.pick(['cancel', 'cancel', 'force-cancel', 'remove-device']))
    // A random event that is not expected now.
    else this.#take(random.pick(executionEvents))
  }

  /** The state known to the device may be outdated. */
  #newReport(): Report {
    const random = this.#random
    return {
      status: random.pick(reportedStatuses),
      attempt: random.chance(0.5) ? undefined : this.#life.attempt - random.below(2),
      expectedVersion: random.chance(0.5) ? undefined : this.#versionNumber - random.below(2),
      mark: random.chance(0.5) ? undefined : `m${random.below(1_000_000)}`,
      stepTimeout: random.pick([undefined, undefined, 3000, 'discard']),
      isNotNow: random.chance(0.5),
    }
  }

  /** In any order, and often duplicated: at once, or later. */
  #deliver(index: number): void {
    const report = this.#inFlight[index] as Report
    if (this.#random.chance(0.6)) this.#inFlight.splice(index, 1)
    const counted = this.#tell(report)
    if (!counted || !this.#random.chance(0.3)) return
    const again = this.#tell(report)
    const namesWhatItMeans =
      report.expectedVersion !== undefined ||
      report.mark !== undefined ||
      (report.status !== 'IN_PROGRESS' && report.attempt !== undefined)
    assert.ok(!again || !namesWhatItMeans, 'a report counted twice')
  }

  /** Whether it was accepted. */
  #tell(report: Report): boolean {
    const judged = {
      life: this.#life,
      versionNumber: this.#versionNumber,
      seenReports: this.#seenReports,
      cancelVersion: this.#cancelVersion,
    }
    const judgement = judgeReport(judged, report, this.#clock)
    this.#assertJudgedRightly(report, judgement)
    if (judgement.kind !== 'event') return false
    assert.ok(this.#take(judgement.event, report.stepTimeout), 'a report counts that cannot be carried out')
    if (report.mark !== undefined) {
      this.#counted.add(report.mark)
      const endsAttempt = isTerminal(this.#life.execState) || this.#life.attempt > judged.life.attempt
      this.#seenReports = withSeen(this.#seenReports, report.mark, endsAttempt)
    }
    return true
  }

  #assertJudgedRightly({ attempt, expectedVersion, mark }: Report, { kind }: Judgement): void {
    const { execState } = this.#life
    if (kind === 'double') {
      assert.ok(mark !== undefined && this.#counted.has(mark))
    } else if (attempt !== undefined && attempt !== this.#life.attempt) {
      assert.equal(kind, 'unknown-execution')
    } else if (isTerminal(execState) || waitsForRetry(this.#life, this.#clock)) {
      assert.equal(kind, 'wrong-state')
    } else if (expectedVersion !== undefined && !this.#isExpected(expectedVersion)) {
      assert.equal(kind, 'wrong-version')
    } else {
      assert.ok(kind === 'event' || kind === 'wrong-state')
    }
  }

  #isExpected(version: number): boolean {
    const isCancelNews = this.#cancelVersion === this.#versionNumber
    return version === this.#versionNumber || (isCancelNews && version === this.#versionNumber - 1)
  }

  #moment(): Moment {
    return {
      at: this.#clock + 77,
      clock: this.#clock,
      chance: this.#random.below(101) / 100,
      cancelDeadlineMs,
    }
  }

  /** False when the state does not allow it. */
  #take(event: ExecutionEvent, stepTimeout?: StepTimeout): boolean {
    const before = this.#life
    const kept = { ...before }
    const moment = this.#moment()
    const after = afterEvent(before, event, this.#policy, moment, stepTimeout, waitMs)
    assert.deepEqual(before, kept, 'what was is changed')
    const isAllowed = event !== 'retry' && nextState(before.execState, event) !== undefined
    assert.equal(after !== undefined, isAllowed)
    if (after === undefined) return false
    this.#assertForward(before, event, after)
    this.#assertSound(after)
    this.#life = after
    this.#versionNumber++
    if (event === 'cancel' && after.execState === 'CANCELING') this.#cancelVersion = this.#versionNumber
    return true
  }

  #assertForward(before: Life, event: ExecutionEvent, after: Life): void {
    assert.ok(!isTerminal(before.execState), 'a move out of a terminal state')
    assert.equal(after.deadlineAt, before.deadlineAt)
    if (event === 'not-now') {
      assert.deepEqual([after.attempt, after.execState], [before.attempt, 'PENDING'])
      assert.ok(before.execState !== 'CANCELING' && after.notBefore !== null)
      assert.ok(after.deadlineAt === null || after.notBefore <= after.deadlineAt)
      this.#isOfferedAnew = true
      return
    }
    // The only way back: the device continues, with a new time limit.
    if (event === 'refuse-cancel') {
      assert.deepEqual([before.execState, after.execState], ['CANCELING', 'IN_PROGRESS'])
      assert.deepEqual([after.attempt, after.startedAt], [before.attempt, before.startedAt])
      return
    }
    if (after.attempt === before.attempt) {
      assert.equal(after.execState, nextState(before.execState, event))
      const gain = rank(after.execState) - rank(before.execState)
      assert.ok(event === 'progress' ? gain === 0 : gain > 0, 'a move that leads nowhere')
      if (before.execState === 'CANCELING' && !isTerminal(after.execState)) {
        assert.equal(after.dueAt, before.dueAt, 'more time for a cancel')
      }
      return
    }
    const { retry } = this.#policy
    assert.ok(retry && before.execState !== 'CANCELING')
    assert.ok(event === 'fail' || event === 'time-out')
    assert.ok(retry.on.includes(event === 'fail' ? 'FAILED' : 'TIMED_OUT'))
    assert.deepEqual([after.attempt, after.execState], [before.attempt + 1, 'PENDING'])
    assert.ok(after.attempt <= 1 + retry.max, 'more attempts than the job allows')
    assert.ok(after.notBefore !== null && after.notBefore >= this.#clock)
    assert.ok(after.deadlineAt === null || after.notBefore < after.deadlineAt)
  }

  /** Invariants. */
  #assertSound(life: Life): void {
    const { execState, attempt, startedAt, finishedAt, notBefore, dueAt } = life
    assert.equal(finishedAt !== null, isTerminal(execState))
    assert.ok(notBefore === null || (execState === 'PENDING' && dueAt === notBefore))
    if (isActive(execState)) assert.notEqual(startedAt, null)
    else assert.equal(timesOutAt(life), null)
    if (execState === 'PENDING') assert.equal(startedAt, null)
    const isFirst = attempt === 1 && !this.#isOfferedAnew
    if (execState === 'PENDING' && isFirst) assert.equal(dueAt ?? notBefore, null)
    if (execState === 'PENDING' && !isFirst && notBefore === null) {
      assert.equal(dueAt === null, this.#policy.expireAfterSeconds === null)
    }
    if (execState === 'IN_PROGRESS' && this.#policy.timeoutSeconds !== null) assert.notEqual(dueAt, null)
    if (execState === 'CANCELING') assert.ok(dueAt !== null && timesOutAt(life) === dueAt)
    if (isTerminal(execState)) assert.equal(dueAt, null)
  }

  #pass(ms: number): void {
    this.#clock = laterBy(ms, this.#clock)
    for (let rounds = 0; this.#isOver(this.#life.dueAt); rounds++) {
      assert.ok(rounds < 4, 'a clock that fires again and again')
      const event = dueEvent(this.#life)
      if (event === 'retry-due') this.#life = afterRetryDelay(this.#life, this.#policy, this.#clock)
      else assert.ok(this.#take(event), 'a clock that runs out for nothing')
      this.#assertSound(this.#life)
    }
    if (this.#isOver(this.#expireAt) && isEndedBy('expire', this.#life)) this.#take('expire')
    if (this.#isOver(this.#life.deadlineAt)) this.#take('miss-deadline')
  }

  #isOver(at: number | null): boolean {
    return at !== null && at <= this.#clock
  }

  /** No more reports or requests: only timers end it. */
  #waitForEnd(): void {
    for (let days = 0; days < 8; days++) this.#pass(86_400_000)
    const { execState, attempt, deadlineAt } = this.#life
    const waits = execState === 'PENDING' && this.#policy.expireAfterSeconds !== null
    const works = execState === 'IN_PROGRESS' && this.#policy.timeoutSeconds !== null
    const mustHaveEnded = deadlineAt !== null || execState === 'CANCELING' || waits || works
    assert.ok(isTerminal(execState) || !mustHaveEnded, `still ${execState} in attempt ${attempt}`)
  }
}

function rank(state: ExecState): number {
  return isTerminal(state) ? 3 : ['PENDING', 'IN_PROGRESS', 'CANCELING'].indexOf(state)
}

test(`in ${sequences} sequences of events, doubled and reordered, states only move forward (seed ${testSeed})`, () => {
  for (let seed = testSeed; seed < testSeed + sequences; seed++) {
    try {
      new OneLife(seededRandom(seed)).live()
    } catch (cause) {
      throw new Error(`in the sequence of seed ${seed}`, { cause })
    }
  }
})
