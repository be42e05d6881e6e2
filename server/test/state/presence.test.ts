// How long devices that poll count as online.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newDataFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { ddiSilenceMs, sleepSeconds } from '../../src/gateway/http/ddi/poll-times.ts'
import { Presence } from '../../src/state/presence.ts'
import { openStore } from '../../src/store/open-store.ts'

const device = { ownerNo: 1, deviceId: 'd1' }

async function open(t: TestContext, pollSeconds?: number, bridgeSilenceMs?: number) {
  const dataFolder = newDataFolder()
  const { store } = await openStore({ dataFolder, databaseUrl: undefined }, (error) => {
    throw error
  })
  t.after(() => store.close())
  removeAfter(t, dataFolder)
  const clock = { ms: 0 }
  const [now, elapsed] = [() => clock.ms, () => clock.ms]
  const presence = new Presence({
    store,
    now,
    elapsed,
    ddiSilenceMs: ddiSilenceMs(pollSeconds),
    bridgeSilenceMs,
  })
  const isOnline = () => {
    presence.noticeSilence()
    return presence.lastSeenAt(device) !== undefined
  }
  return { clock, presence, isOnline }
}

test('a device of hawkBit is online while it sleeps between two polls, and if it misses one', async (t) => {
  const { clock, presence, isOnline } = await open(t, 300)
  presence.seenByDdi(device)
  clock.ms += sleepSeconds(300, false) * 1000
  assert.equal(isOnline(), true)
  clock.ms += sleepSeconds(300, false) * 1000
  assert.equal(isOnline(), true)
  presence.seenByDdi(device)
  clock.ms += 2 * 300_000 + 60_000 - 1
  assert.equal(isOnline(), true)
  clock.ms += 1
  assert.equal(isOnline(), false)
})

test('any other device that polls is offline after a minute, also where devices of hawkBit are served', async (t) => {
  const { clock, presence, isOnline } = await open(t, 300)
  presence.seenByHttp(device)
  clock.ms += 59_999
  assert.equal(isOnline(), true)
  clock.ms += 1
  assert.equal(isOnline(), false)
})

test('a device that polled a dead node has the time of a hawkBit device, if these are served', async (t) => {
  for (const [pollSeconds, silenceMs] of [
    [undefined, 60_000],
    [300, 660_000],
  ] as const) {
    const { clock, presence, isOnline } = await open(t, pollSeconds)
    presence.adoptByHttp([{ ...device, lastSeenAt: 0, transport: 'http' }])
    clock.ms += silenceMs - 1
    assert.equal(isOnline(), true)
    clock.ms += 1
    assert.equal(isOnline(), false)
  }
})

test('a device of a bridge on a dead node has the longest time of all bridges', async (t) => {
  for (const [longestMs, heardMs, silenceMs] of [
    [undefined, undefined, 600_000],
    [1_800_000, 60_000, 1_800_000],
    [60_000, undefined, 60_000],
    [undefined, 1_800_000, 1_800_000],
  ] as const) {
    const { clock, presence, isOnline } = await open(t, undefined, longestMs)
    if (heardMs) presence.seenByBridge({ ...device, deviceId: 'd2' }, heardMs, 'b1')
    presence.adoptByHttp([{ ...device, lastSeenAt: 0, transport: 'bridge' }])
    clock.ms += silenceMs - 1
    assert.equal(isOnline(), true)
    clock.ms += 1
    assert.equal(isOnline(), false)
  }
})
