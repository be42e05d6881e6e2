// A queue of one device, in whatever order its runs reach the disk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { WaitingQueue } from '../../src/store/sqlite/waiting-queue.ts'

const nothing = { isEmpty: true, has: () => false }
const odd = { isEmpty: false, has: (id: number) => id % 2 === 1 }

const step = fc.record({
  does: fc.constantFrom(
    'announce',
    'announce',
    'write',
    'write',
    'fail',
    'reserve',
    'insert',
    'end',
    'delay',
    'release',
  ),
  /** Which of those that it may be done to. */
  which: fc.nat(20),
})

/** What the queue should say: each id with what is known of it. */
class Model {
  readonly known = new Map<number, 'unwritten' | 'written' | 'delayed' | 'reserved'>()
  readonly #released = new Set<number>()
  /** The odd ones, until they are released. */
  readonly held = { isEmpty: false, has: (id: number) => id % 2 === 1 && !this.#released.has(id) }
  #lastId = 0

  announce(): number {
    this.known.set(++this.#lastId, 'unwritten')
    return this.#lastId
  }

  /** Of a large run, which is not in the queue before it is on disk. */
  reserve(): void {
    this.known.set(++this.#lastId, 'reserved')
  }

  /** Their queue is not told. */
  release(which: number): void {
    const held = this.written.filter(this.held.has)
    this.#released.add(held[which % held.length] ?? 0)
  }

  get written(): number[] {
    return this.ids((state) => state === 'written' || state === 'delayed')
  }

  pick(which: number, ...states: string[]): number | undefined {
    const ids = this.ids((state) => states.includes(state))
    return ids[which % ids.length]
  }

  ids(matches: (state: string) => boolean): number[] {
    return [...this.known].filter(([, state]) => matches(state)).map(([id]) => id)
  }
}

function take(model: Model, queue: WaitingQueue, { does, which }: { does: string; which: number }): void {
  if (does === 'announce') {
    queue.announce(model.announce())
    return
  }
  if (does === 'reserve') {
    model.reserve()
    return
  }
  if (does === 'release') {
    model.release(which)
    return
  }
  if (does === 'insert') {
    const reserved = model.pick(which, 'reserved')
    if (reserved === undefined) return
    queue.insert(reserved)
    model.known.set(reserved, 'written')
    return
  }
  const isOfUnwritten = does === 'write' || does === 'fail'
  const id = model.pick(which, ...(isOfUnwritten ? ['unwritten'] : ['written', 'delayed']))
  if (id === undefined) return
  if (isOfUnwritten) {
    queue.settle(id, does === 'write')
    if (does === 'write') model.known.set(id, 'written')
    else model.known.delete(id)
  } else if (does === 'end') {
    queue.leave(id)
    model.known.delete(id)
  } else {
    queue.delay(id)
    model.known.set(id, 'delayed')
  }
}

test('what a device sees is what is on disk, though a younger run was written before an older one', () => {
  const property = fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
    const [model, queue] = [new Model(), new WaitingQueue()]
    const seen = new Map<number, string>()
    for (const each of steps) {
      take(model, queue, each)
      const { written } = model
      const offered = model.ids((state) => state === 'written')
      const isUnwritten = queue.unwritten()
      assert.deepEqual(
        queue.all,
        model.ids((state) => state !== 'reserved'),
      )
      assert.equal(queue.offered(nothing), offered.length)
      assert.equal(queue.offered(odd), offered.filter((id) => id % 2 === 0).length)
      assert.equal(queue.newest, written.at(-1))
      assert.deepEqual(
        queue.all.filter((id) => !isUnwritten(id)),
        written,
      )
      const mark = queue.mark(model.held)
      const visible = offered.filter((id) => !model.held.has(id)).join()
      assert.equal(seen.get(mark) ?? visible, visible, 'nobody would look again')
      seen.set(mark, visible)
    }
  })
  fc.assert(property, randomInputs({ test: 300, chaos: 20_000 }))
})
