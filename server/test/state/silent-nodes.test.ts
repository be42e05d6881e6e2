import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SilentNodes } from '../../src/state/silent-nodes.ts'

function build() {
  const clock = { ms: 0 }
  const silent = new SilentNodes(() => clock.ms)
  return {
    /** After so long, with the beats of nodes 1, 2, …; gives how long each has been silent. */
    look(ms: number, ...beats: number[]) {
      clock.ms += ms
      return silent
        .observe(beats.map((beat, index) => ({ nodeNo: index + 1, beat })))
        .map(({ silentMs }) => silentMs)
    },
  }
}

test('a node is silent from when its last beat was seen first', () => {
  const { look } = build()
  assert.deepEqual(look(1000, 10, 70), [0, 0])
  assert.deepEqual(look(1000, 10, 71), [1000, 0])
  assert.deepEqual(look(1500, 10, 70), [2500, 0])
  assert.deepEqual(look(1000, 11, 70), [0, 1000])
})

test('a node that could not check for long starts over, because the others may have had the same problem', () => {
  const { look } = build()
  look(0, 10)
  assert.deepEqual(look(2000, 10), [2000])
  assert.deepEqual(look(2001, 10), [0])
  assert.deepEqual(look(1000, 10), [1000])
})

test('a node that has returned is not silent', () => {
  const { look } = build()
  look(0, 1, 5)
  look(1000, 1)
  assert.deepEqual(look(1000, 1, 5), [2000, 0])
})
