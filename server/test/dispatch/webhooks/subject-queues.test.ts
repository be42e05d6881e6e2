import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import * as fc from 'fast-check'
import { type Entry, SubjectQueues } from '../../../src/dispatch/webhooks/subject-queues.ts'

function entryOf(eventId: number, subject: string, more: Partial<Entry> = {}): Entry {
  return {
    eventId,
    subject,
    type: 'device.created',
    tries: 0,
    isTried: false,
    dueAt: 0,
    event: undefined,
    ...more,
  }
}

function lanesOf(...entries: Entry[]): SubjectQueues {
  const queues = new SubjectQueues()
  for (const entry of entries) queues.add(entry)
  return queues
}

test('one of each subject is to be sent, oldest first', () => {
  const [a1, b1, a2] = [entryOf(1, 'a'), entryOf(2, 'b'), entryOf(3, 'a')]
  const queues = lanesOf(a1, b1, a2)
  const sent: number[] = []
  for (let next = queues.peek(0); next; next = queues.peek(0)) {
    queues.begin(next)
    sent.push(next.eventId)
  }
  assert.deepEqual(sent, [1, 2])
  queues.done(a1)
  assert.equal(queues.peek(0), a2)
})

test('one that is put back comes when it is due, and those behind it after it', () => {
  const [first, second] = [entryOf(1, 'a'), entryOf(2, 'a')]
  const queues = lanesOf(first, second)
  queues.begin(first)
  Object.assign(first, { dueAt: 100, isTried: true })
  queues.putBack(first)
  assert.equal(queues.peek(99), undefined)
  assert.equal(queues.dueAt, 100)
  assert.equal(queues.soonest(), first)
  assert.equal(queues.peek(100), first)
  assert.equal(queues.dueAt, 0)
})

test('those that wait can be made due, all or some', () => {
  const entries = [1, 2, 3].map((id) => entryOf(id, `s${id}`, { isTried: true, tries: id, dueAt: 1000 }))
  const queues = lanesOf(...entries)
  queues.makeDue(({ tries }) => tries === 2)
  assert.equal(queues.peek(0), entries[1])
})

test('the first that was not tried is the oldest of these', () => {
  const [tried, one, two] = [entryOf(1, 'a', { isTried: true }), entryOf(2, 'a'), entryOf(3, 'b')]
  const queues = lanesOf(tried, one, two)
  assert.deepEqual([queues.size, queues.ready, queues.firstUntried], [3, 2, one])
  queues.begin(two)
  queues.done(two)
  assert.equal(queues.firstUntried, one)
  queues.begin(tried)
  queues.done(tried)
  queues.begin(one)
  Object.assign(one, { isTried: true, dueAt: 5 })
  queues.putBack(one)
  assert.deepEqual([queues.size, queues.ready, queues.firstUntried], [1, 0, undefined])
})

test('in any order of answers, one of a subject is in progress at a time and all end in order', () => {
  const subject = fc.constantFrom('a', 'b', 'c')
  const outcome = fc.record({
    which: fc.nat(),
    accepted: fc.boolean(),
    delay: fc.integer({ min: 0, max: 50 }),
  })
  fc.assert(
    fc.property(
      fc.array(subject, { maxLength: 30 }),
      fc.array(outcome, { maxLength: 200 }),
      (subjects, outcomes) => {
        const entries = subjects.map((each, index) => entryOf(index + 1, each))
        const queues = lanesOf(...entries)
        const inFlight: Entry[] = []
        const ended: Entry[] = []
        let now = 0
        const settle = (entry: Entry, isAccepted: boolean, delay: number) => {
          inFlight.splice(inFlight.indexOf(entry), 1)
          if (isAccepted) {
            queues.done(entry)
            ended.push(entry)
          } else {
            Object.assign(entry, { isTried: true, dueAt: now + delay })
            queues.putBack(entry)
          }
        }
        const beginAll = () => {
          for (let next = queues.peek(now); next; next = queues.peek(now)) {
            queues.begin(next)
            inFlight.push(next)
          }
          assert.equal(new Set(inFlight.map((entry) => entry.subject)).size, inFlight.length)
          const untried = entries.filter((entry) => !entry.isTried && !ended.includes(entry))
          assert.equal(queues.firstUntried, untried[0])
          assert.equal(queues.size, entries.length - ended.length)
        }
        for (const { which, accepted, delay } of outcomes) {
          now++
          beginAll()
          const entry = inFlight[which % Math.max(1, inFlight.length)]
          if (entry) settle(entry, accepted, delay)
        }
        while (ended.length < entries.length) {
          now += 50
          beginAll()
          for (const entry of [...inFlight]) settle(entry, true, 0)
        }
        for (const ofSubject of Map.groupBy(ended, (entry) => entry.subject).values()) {
          const ids = ofSubject.map(({ eventId }) => eventId)
          assert.deepEqual(
            ids,
            ids.toSorted((a, b) => a - b),
          )
        }
      },
    ),
    randomInputs({ test: 100, chaos: 5000 }),
  )
})
