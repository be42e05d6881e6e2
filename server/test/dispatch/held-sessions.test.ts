// Sessions of a large run are held after their notice, and read again when all have theirs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HeldSessions } from '../../src/dispatch/held-sessions.ts'
import { openDispatcher, openSharedStore, RecordingSession } from './open-dispatcher.ts'

const store = await openSharedStore()
const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`)

async function announce(count: number) {
  const all = await openDispatcher(store, { devices: count })
  const sessions = all.deviceIds.map((deviceId) => new RecordingSession(all.keyOf(deviceId)))
  for (const session of sessions) {
    all.dispatcher.open(session)
    all.dispatcher.refresh(session)
  }
  await all.dispatcher.quiet()
  const run = await all.launch()
  return { ...all, sessions, run }
}

test('the devices of a large run are held until the last has its notice, then released', async () => {
  const { dispatcher, sessions, ownerNo, run } = await announce(300)
  const [first] = sessions
  const last = sessions.at(-1)
  assert.ok(first && last)
  const { send } = last
  last.send = (notice, ids) => {
    assert.equal(first.isHeld, true)
    send.call(last, notice, ids)
  }
  dispatcher.launched(ownerNo, run)
  await dispatcher.quiet()
  assert.ok(sessions.every(({ notices, holds }) => notices.length === 2 && holds === 1))
  while (sessions.some(({ isHeld }) => isHeld)) await nextTurn()
})

test('the device of a small run is not held', async () => {
  const { dispatcher, sessions, ownerNo, run } = await announce(1)
  dispatcher.launched(ownerNo, run)
  await dispatcher.quiet()
  assert.deepEqual([sessions[0]?.notices.length, sessions[0]?.holds], [2, 0])
})

test('notices of a batch are sent when all are encoded, and before the next turn of the event loop', async () => {
  const { dispatcher, sessions, ownerNo, run } = await announce(2)
  const [first, last] = sessions
  assert.ok(first && last)
  const { send } = last
  last.send = (notice, ids) => {
    assert.equal(first.notices.length, 0)
    send.call(last, notice, ids)
    setImmediate(() => assert.equal(first.notices.length, 2))
  }
  dispatcher.launched(ownerNo, run)
  await dispatcher.quiet()
  await nextTurn()
  assert.ok(sessions.every(({ notices }) => notices.length === 2))
})

test('no more than ten thousand are held at a time', async () => {
  const held = new HeldSessions(true)
  const sessions = namesOf(10_000).map((deviceId) => new RecordingSession({ ownerNo: 1, deviceId }))
  for (const session of sessions.slice(1)) held.add(session)
  await held.releaseIfMany()
  assert.equal(sessions.filter(({ isHeld }) => isHeld).length, 9999)
  held.add(sessions[0] as RecordingSession)
  await held.releaseIfMany()
  assert.equal(sessions.filter(({ isHeld }) => isHeld).length, 0)
})
