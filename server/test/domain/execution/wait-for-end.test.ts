import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitForEnd } from '../../../src/domain/execution/wait-for-end.ts'
import { ChangeSignal } from '../../../src/state/change-signal.ts'

const minute = 60_000

/** An item with an end, which counts its reads. */
function buildThing() {
  const changes = new ChangeSignal()
  const stopping = new AbortController()
  const callerGone = new AbortController()
  const thing = { runId: 1, ended: false }
  let reads = 0
  let onRead: () => void = () => undefined
  const wait = (waitMs: number) =>
    waitForEnd(
      { changes, stopping: stopping.signal },
      async () => {
        reads++
        const read = { ...thing }
        onRead()
        return read
      },
      (read) => read.ended,
      { waitMs, callerGone: callerGone.signal },
    )
  return {
    changes,
    stopping,
    callerGone,
    wait,
    reads: () => reads,
    end() {
      thing.ended = true
      changes.notify([thing.runId])
    },
    /** Calls back right after the read of this number. */
    afterRead(number: number, call: () => void) {
      onRead = () => {
        if (reads === number) call()
      }
    },
  }
}

test('an ended execution is returned at once, with one read', async () => {
  const thing = buildThing()
  thing.end()
  assert.equal((await thing.wait(minute)).ended, true)
  assert.equal(thing.reads(), 1)
})

test('without a wait limit the execution is returned as it is, ended or not', async () => {
  const thing = buildThing()
  assert.equal((await thing.wait(0)).ended, false)
  assert.equal(thing.reads(), 1)
})

// The end comes between any two steps of the wait: before, while and after it begins to listen.
for (const read of [1, 2, 3]) {
  test(`an end right after read ${read} is not missed`, async () => {
    const thing = buildThing()
    thing.afterRead(read, () => thing.end())
    if (read === 3) thing.changes.notify([1])
    const waiting = thing.wait(minute)
    if (read === 3) {
      // A change that is no end makes it read again.
      while (thing.reads() < 2) await new Promise(setImmediate)
      await new Promise(setImmediate)
      thing.changes.notify([1])
    }
    assert.equal((await waiting).ended, true)
  })
}

test('when the time is over the last read state is returned', async () => {
  const thing = buildThing()
  assert.equal((await thing.wait(20)).ended, false)
  assert.ok(thing.reads() >= 2)
})

test('a lost hint only costs time: the state is read again at the end of the wait', async () => {
  const thing = buildThing()
  const ended = { runId: 1, ended: true }
  let reads = 0
  const answer = await waitForEnd(
    { changes: thing.changes, stopping: thing.stopping.signal },
    async () => (++reads < 3 ? { runId: 1, ended: false } : ended),
    (read) => read.ended,
    { waitMs: 20, callerGone: thing.callerGone.signal },
  )
  assert.equal(answer, ended)
})

for (const who of ['callerGone', 'stopping'] as const) {
  test(`the wait ends when ${who === 'stopping' ? 'the service stops' : 'the caller goes'}`, async () => {
    const thing = buildThing()
    thing.afterRead(2, () => setImmediate(() => thing[who].abort()))
    assert.equal((await thing.wait(minute)).ended, false)
  })

  test(`there is no wait when ${who} was there before`, async () => {
    const thing = buildThing()
    thing[who].abort()
    assert.equal((await thing.wait(minute)).ended, false)
  })
}

test('a failed read is an error for the caller, also during a wait', async () => {
  const thing = buildThing()
  let reads = 0
  const waiting = waitForEnd(
    { changes: thing.changes, stopping: thing.stopping.signal },
    async () => {
      if (++reads === 2) throw new Error('gone')
      return { runId: 1 }
    },
    () => false,
    { waitMs: minute, callerGone: thing.callerGone.signal },
  )
  await assert.rejects(waiting, /gone/)
})
