// The long poll of a device.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../src/domain/common/ports/store.ts'
import type { DeviceKey } from '../../../src/domain/device/device-key.ts'
import { deviceText } from '../../../src/domain/device/ports/device-link.ts'
import { waitForPending } from '../../../src/domain/execution/wait-for-pending.ts'
import { ChangeSignal } from '../../../src/state/change-signal.ts'

const minute = 60_000
const device: DeviceKey = { ownerNo: 1, deviceId: 'd1' }

/** A queue that counts its reads. */
function buildQueue() {
  const queues = new ChangeSignal<string>()
  const credentialChanges = { count: 0 }
  const stopping = new AbortController()
  const callerGone = new AbortController()
  const state = { total: 0, mark: 1, looks: 0, seen: 0, isThere: true, onLook: (_look: number) => {} }
  const readQueues: Store['readQueues'] = async ([wanted]) => {
    state.looks++
    const { total, mark, isThere } = state
    state.onLook(state.looks)
    if (!isThere) return [undefined]
    return wanted?.unlessMark === mark ? ['unchanged'] : [{ mark, total, executions: [] }]
  }
  const presence = { seenByHttp: () => void state.seen++ }
  const deps = { store: { readQueues }, queues, credentialChanges, presence, stopping: stopping.signal }
  return {
    state,
    queues,
    credentialChanges,
    stopping,
    callerGone,
    tell: () => queues.notify([deviceText(device)]),
    launch() {
      state.total++
      state.mark++
      queues.notify([deviceText(device)])
    },
    wait: (waitMs: number, checkSignIn = async () => {}) =>
      waitForPending(deps, device, { waitMs, callerGone: callerGone.signal }, checkSignIn),
  }
}

test('pending executions are returned at once, with one read', async () => {
  const queue = buildQueue()
  queue.launch()
  await queue.wait(minute)
  assert.equal(queue.state.looks, 1)
  assert.equal(queue.queues.isWatched, false)
})

for (const look of [1, 2, 3]) {
  test(`a change right after read ${look} is not missed`, async () => {
    const queue = buildQueue()
    queue.state.onLook = (now) => {
      // A change without an effect causes another read.
      if (now === look) queue.launch()
      else if (now < look) queue.tell()
    }
    await queue.wait(minute)
    assert.equal(queue.state.looks, look + 1)
  })
}

test('a change of another device, or one that leads to nothing, does not end the wait', async () => {
  const queue = buildQueue()
  const waiting = queue.wait(minute)
  queue.queues.notify(['1 other', '2 d1'])
  queue.tell()
  while (queue.state.looks < 2) await new Promise(setImmediate)
  queue.launch()
  await waiting
})

test('the wait ends with its time', async () => {
  const queue = buildQueue()
  await queue.wait(20)
  assert.equal(queue.state.total, 0)
  assert.equal(queue.queues.isWatched, false)
})

for (const who of ['callerGone', 'stopping'] as const) {
  test(`the wait ends when ${who === 'stopping' ? 'the service stops' : 'the device goes'}`, async () => {
    const queue = buildQueue()
    queue.state.onLook = () => setImmediate(() => queue[who].abort())
    await queue.wait(minute)
    assert.equal(queue.queues.isWatched, false)
  })
}

test('the wait ends when the device is deleted', async () => {
  const queue = buildQueue()
  queue.state.onLook = () => {
    queue.state.isThere = false
    queue.tell()
  }
  await queue.wait(minute)
})

test('after a change of credentials the wait checks whether the device is still accepted; if not, it ends', async () => {
  const queue = buildQueue()
  let asked = 0
  const checkSignIn = async () => {
    if (++asked === 2) throw new Error('no longer')
  }
  const waiting = queue.wait(minute, checkSignIn)
  queue.state.onLook = () => {
    queue.credentialChanges.count++
    queue.tell()
  }
  await assert.rejects(waiting, /no longer/)
  assert.equal(asked, 2)
  assert.equal(queue.queues.isWatched, false)
})

test('a waiting device counts as seen, one that has disconnected does not', async () => {
  const queue = buildQueue()
  queue.state.onLook = (look) => {
    if (look === 3) setImmediate(() => queue.callerGone.abort())
    else queue.tell()
  }
  await queue.wait(minute)
  assert.equal(queue.state.seen, 2)
})
