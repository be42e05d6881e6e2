import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChangeSignal } from '../../src/state/change-signal.ts'

const minute = 60_000

/** Whether the promise has resolved by now. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false
  void promise.then(() => {
    over = true
  })
  await nextTurn()
  return over
}

test('a change of its run wakes a watch, a change of another does not', async () => {
  const changes = new ChangeSignal()
  const watch = changes.openWatch(1)
  const woken = watch.nextChange(minute, new AbortController().signal)
  changes.notify([2, 3])
  assert.equal(await isOver(woken), false)
  changes.notify([2, 1])
  assert.equal(await isOver(woken), true)
  watch.close()
})

test('a change before the wait is not missed, and counts once', async () => {
  const changes = new ChangeSignal()
  const watch = changes.openWatch(1)
  changes.notify([1])
  changes.notify([1])
  const { signal } = new AbortController()
  assert.equal(await isOver(watch.nextChange(minute, signal)), true)
  const next = watch.nextChange(minute, signal)
  assert.equal(await isOver(next), false)
  changes.notify([1])
  assert.equal(await isOver(next), true)
  watch.close()
})

test('all watches of a run are woken, also when one closes while they are', async () => {
  const changes = new ChangeSignal()
  const { signal } = new AbortController()
  const watches = Array.from({ length: 3 }, () => changes.openWatch(1))
  const woken = watches.map((watch) => watch.nextChange(minute, signal).then(() => watch.close()))
  changes.notify([1])
  await Promise.all(woken)
  const later = changes.openWatch(1)
  changes.notify([1])
  assert.equal(await isOver(later.nextChange(minute, signal)), true)
  later.close()
})

test('a wait ends with its time, with an abort, and at once when there is nothing left to wait for', async () => {
  const watch = new ChangeSignal().openWatch(1)
  const abort = new AbortController()
  await watch.nextChange(1, abort.signal)
  await watch.nextChange(0, abort.signal)
  await watch.nextChange(-5, abort.signal)
  const aborted = watch.nextChange(minute, abort.signal)
  abort.abort()
  await aborted
  await watch.nextChange(minute, abort.signal)
  watch.close()
})

test('a wait leaves no listener behind, however it ends', async () => {
  const changes = new ChangeSignal()
  const watch = changes.openWatch(1)
  const { signal } = new AbortController()
  for (let count = 0; count < 50; count++) {
    const woken = watch.nextChange(minute, signal)
    changes.notify([1])
    await woken
  }
  await watch.nextChange(1, signal)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  watch.close()
})

test('one watch can wait for changes of several kinds, and closes all of them', async () => {
  const changes = new ChangeSignal()
  const queues = new ChangeSignal<string>()
  const { signal } = new AbortController()
  const watch = changes.openWatch(1)
  queues.openWatch('1 device', watch)
  for (const tell of [() => changes.notify([1]), () => queues.notify(['1 device'])]) {
    const woken = watch.nextChange(minute, signal)
    assert.equal(await isOver(woken), false)
    tell()
    assert.equal(await isOver(woken), true)
  }
  assert.deepEqual([changes.isWatched, queues.isWatched], [true, true])
  watch.close()
  assert.deepEqual([changes.isWatched, queues.isWatched], [false, false])
})

test('a closed watch gets no changes, and closing it twice does not affect a newer one', async () => {
  const changes = new ChangeSignal()
  const closed = changes.openWatch(1)
  closed.close()
  const open = changes.openWatch(1)
  closed.close()
  const woken = open.nextChange(minute, new AbortController().signal)
  changes.notify([1])
  assert.equal(await isOver(woken), true)
  open.close()
})
