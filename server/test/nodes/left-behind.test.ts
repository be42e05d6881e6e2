// The state left behind by a dead node, and how other nodes handle it: step by step on their stores.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import type { Transport } from '../../src/domain/device/ports/presence.ts'
import { Presence } from '../../src/state/presence.ts'
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { seedOwner, startedAt } from '../store/store-under-test.ts'

const server = await sharedPostgres()
const minute = 60_000

/** Stores of nodes that do nothing by themselves. */
async function openStores(t: TestContext, count: number) {
  const url = await createDatabase(server)
  const stores: PostgresStore[] = []
  const numbers: number[] = []
  for (let index = 0; index < count; index++) {
    const store = await openPostgresStore({ url })
    t.after(() => store.close())
    stores.push(store)
    // Chosen at random.
    const all = (await execute(url, 'SELECT node_no FROM node')).map((row) => row.node_no as number)
    numbers.push(...all.filter((nodeNo) => !numbers.includes(nodeNo)))
  }
  const [first] = stores as [PostgresStore]
  const { ownerNo } = await seedOwner(first)
  return { url, stores, numbers, device: { ownerNo, deviceId: 'd1' } }
}

const come = (
  store: PostgresStore,
  device: DeviceKey,
  since: number | null,
  transport: Transport = 'mqtt',
) => {
  const session = since === null ? null : steadyInstant(since)
  return store.recordPresence([{ ...device, online: true, at: startedAt, transport, session }])
}

const isOnline = async (store: PostgresStore, { ownerNo, deviceId }: DeviceKey) =>
  (await store.getDevice({ ownerNo, deviceId }))?.presence.online

/** As when it is taken out. */
const takeOut = (url: string, nodeNo: number | undefined) =>
  execute(url, `DELETE FROM node WHERE node_no = ${nodeNo}`)

/** What a node does once a second. */
async function sweepOnce({ nodes }: PostgresStore) {
  await nodes.beat(steadyInstant(1))
  return nodes.removeDeadNodes()
}

async function waitsForLock(url: string): Promise<boolean> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await execute(url, sql)).length > 0
}

async function offlineEvents(url: string): Promise<number> {
  const [row] = await execute(url, `SELECT count(*)::int AS count FROM event WHERE type = 'device.offline'`)
  return row?.count as number
}

test('a device that connects to another node just when its own is removed stays online', async (t) => {
  const { url, stores, numbers, device } = await openStores(t, 2)
  const [one, two] = stores as [PostgresStore, PostgresStore]
  await come(one, device, 1)
  await takeOut(url, numbers[0])
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.after(() => other.end())
  // What recordPresence of the second node does, held open.
  await other.query('BEGIN')
  await other.query(`UPDATE device SET node_no = ${numbers[1]}, session_since = 2 WHERE device_id = 'd1'`)
  let isForgotten = false
  const forgetting = sweepOnce(two).then(() => {
    isForgotten = true
  })
  // It waits for the row, or it is done without it.
  await waitUntil('it has come to the row', async () => isForgotten || (await waitsForLock(url)))
  await other.query('COMMIT')
  await forgetting
  await sweepOnce(two)
  assert.equal(await isOnline(two, device), true)
  assert.equal(await offlineEvents(url), 0)
})

test('a node does not wait for one that hangs while it writes presence', async (t) => {
  const { url, stores, numbers, device } = await openStores(t, 2)
  const [one, two] = stores as [PostgresStore, PostgresStore]
  await come(one, device, 1)
  await come(one, { ...device, deviceId: 'd2' }, 1)
  const still = new pg.Client({ connectionString: url, application_name: `jobcast node ${numbers[0]}` })
  still.on('error', () => undefined)
  await still.connect()
  t.after(() => still.end().catch(() => undefined))
  await still.query('BEGIN')
  await still.query(`SELECT FROM device WHERE device_id = 'd1' FOR UPDATE`)
  await takeOut(url, numbers[0])
  await sweepOnce(two)
  assert.equal(await isOnline(two, { ...device, deviceId: 'd2' }), false)
  await still.query('ROLLBACK')
  await sweepOnce(two)
  assert.equal(await isOnline(two, device), false)
  assert.equal(await offlineEvents(url), 2)
})

test('a removed node loses all its connections, and their locks', async (t) => {
  const { url, stores } = await openStores(t, 1)
  const [one] = stores as [PostgresStore]
  // One that has ended, but for a transaction that it stands in.
  const [row] = await execute(url, 'INSERT INTO node (beat_at) VALUES (1) RETURNING node_no')
  const still = new pg.Client({ connectionString: url, application_name: `jobcast node ${row?.node_no}` })
  const isCut = new Promise((resolve) => still.on('error', resolve))
  await still.connect()
  await still.query('BEGIN')
  await still.query(`SELECT FROM device WHERE device_id = 'd1' FOR UPDATE`)
  const isTakenOut = async () => {
    const { clock } = await one.nodes.beat(steadyInstant(1))
    assert.ok(clock > 0)
    await one.nodes.removeDeadNodes()
    return (await execute(url, 'SELECT FROM node')).length === 1
  }
  const afterMs = await waitUntil('it is taken out', isTakenOut, { intervalMs: 500 })
  await isCut
  assert.ok(afterMs > 2500, 'it was not given the time to make a new connection')
})

test('a node is not removed because the clock of the database jumps', async (t) => {
  const { url, stores } = await openStores(t, 2)
  for (let beat = 0; beat < 4; beat++) {
    for (const { nodes } of stores) {
      assert.equal((await nodes.beat(steadyInstant(1))).wasRemoved, false)
      // As if it had jumped by an hour between two beats.
      await execute(url, 'UPDATE node SET beat_at = beat_at - 3600000')
      await nodes.removeDeadNodes()
    }
  }
  assert.equal((await execute(url, 'SELECT FROM node')).length, 2)
})

test('a removed node is informed also if its heartbeat fails', async (t) => {
  const { url, stores, numbers } = await openStores(t, 1)
  const [one] = stores as [PostgresStore]
  await takeOut(url, numbers[0])
  await execute(url, 'ALTER TABLE steady_clock RENAME TO away')
  await assert.rejects(one.nodes.beat(steadyInstant(1)))
  await execute(url, 'ALTER TABLE away RENAME TO steady_clock')
  assert.equal((await one.nodes.beat(steadyInstant(1))).wasRemoved, true)
  assert.equal((await one.nodes.beat(steadyInstant(1))).wasRemoved, false)
})

test('a device that is connected to one node and polls another belongs to the node of its connection', async (t) => {
  const { url, stores, numbers, device } = await openStores(t, 3)
  const [one, two, three] = stores as [PostgresStore, PostgresStore, PostgresStore]
  await come(one, device, 1)
  await come(two, device, null, 'http')
  assert.deepEqual(await two.nodes.recordSeen([{ ...device, at: startedAt + 1 }]), [])
  await takeOut(url, numbers[1])
  assert.deepEqual(await sweepOnce(three), [])
  assert.equal(await isOnline(three, device), true)
  await takeOut(url, numbers[0])
  await sweepOnce(three)
  assert.equal(await isOnline(three, device), false)
})

/** The part of a node that knows who asked it by HTTP, with clocks in the hand of the test. */
function buildPresence(store: PostgresStore, clock: { ms: number }, wall = 0) {
  const presence = new Presence({ store, now: () => startedAt + wall + clock.ms, elapsed: () => clock.ms })
  return {
    presence,
    async sweepOnce() {
      presence.adoptByHttp(await sweepOnce(store))
      for (const offline of await store.nodes.recordSeen(presence.seenWithin(25_000))) {
        presence.announceByHttp(offline)
      }
      presence.noticeSilence()
      await presence.settle()
    },
  }
}

test('a device that polls several nodes stays online when one of them is gone, and is offline once it is silent', async (t) => {
  const { url, stores, numbers, device } = await openStores(t, 3)
  const clock = { ms: 0 }
  const parts = stores.map((store) => buildPresence(store, clock))
  const three = stores[2] as PostgresStore
  for (const { presence, sweepOnce } of parts) {
    clock.ms += 1000
    presence.seenByHttp(device)
    await sweepOnce()
  }
  // The one that heard it last is gone; the others have heard it as well.
  await takeOut(url, numbers[2])
  const [first, second] = parts as [(typeof parts)[0], (typeof parts)[0]]
  for (let round = 0; round < 10; round++) {
    clock.ms += 20_000
    second.presence.seenByHttp(device)
    await second.sweepOnce()
    await first.sweepOnce()
    assert.equal(await isOnline(three, device), true, `in round ${round}`)
  }
  assert.equal(await offlineEvents(url), 0)
  clock.ms += 50_000
  await first.sweepOnce()
  await second.sweepOnce()
  assert.equal(await isOnline(three, device), true)
  clock.ms += 20_000
  await first.sweepOnce()
  await second.sweepOnce()
  assert.equal(await isOnline(three, device), false)
  assert.equal(await offlineEvents(url), 1)
})

test('a device that only polled a dead node is offline after its silence', async (t) => {
  const { url, stores, numbers, device } = await openStores(t, 2)
  const clock = { ms: 0 }
  const [first, second] = stores.map((store) => buildPresence(store, clock)) as [
    ReturnType<typeof buildPresence>,
    ReturnType<typeof buildPresence>,
  ]
  first.presence.seenByHttp(device)
  await first.sweepOnce()
  await takeOut(url, numbers[0])
  clock.ms += minute / 2
  await second.sweepOnce()
  assert.equal(await isOnline(stores[1] as PostgresStore, device), true)
  clock.ms += minute / 2 + 1
  await second.sweepOnce()
  assert.equal(await isOnline(stores[1] as PostgresStore, device), false)
})

test('a device seen by one node is online soon, even if another one with a wrong clock has recorded it as offline', async (t) => {
  const { stores, device } = await openStores(t, 2)
  const clock = { ms: 0 }
  const [one] = stores as [PostgresStore]
  const wrong = buildPresence(one, clock, 60 * minute)
  const right = buildPresence(stores[1] as PostgresStore, clock)
  wrong.presence.seenByHttp(device)
  await wrong.sweepOnce()
  for (let round = 0; round < 8; round++) {
    clock.ms += 20_000
    right.presence.seenByHttp(device)
    await wrong.sweepOnce()
    await right.sweepOnce()
    assert.equal(await isOnline(one, device), true, `in round ${round}`)
  }
})

test('a device that polls before the end of its connection is recorded is offline once it is silent', async (t) => {
  const { url, stores, device } = await openStores(t, 1)
  const [one] = stores as [PostgresStore]
  const clock = { ms: 0 }
  const { presence, sweepOnce } = buildPresence(one, clock)
  const session = { device, transport: 'mqtt', lastSeenAt: startedAt } as const
  presence.connect(session, steadyInstant(1))
  await presence.settle()
  presence.disconnect(session, steadyInstant(1))
  presence.seenByHttp(device)
  await presence.settle()
  const stored = (await one.getDevice(device))?.presence
  assert.deepEqual([stored?.online, stored?.transport], [true, 'http'])
  assert.equal(await offlineEvents(url), 0)
  clock.ms += minute + 1
  await sweepOnce()
  assert.equal(await isOnline(one, device), false)
  assert.equal(await offlineEvents(url), 1)
})

test('of two sessions that a device opened within a millisecond one stays, whichever is recorded first', async (t) => {
  const { stores, device, numbers } = await openStores(t, 2)
  const numberOf = (store: PostgresStore) => numbers[stores.indexOf(store)]
  // The session on the node with the higher number stays.
  const byNumber = stores.toSorted((a, b) => (numberOf(a) ?? 0) - (numberOf(b) ?? 0))
  const [one, two] = byNumber as [PostgresStore, PostgresStore]
  const since = steadyInstant(1)
  const staleOn = async (store: PostgresStore) =>
    (await store.nodes.findStaleSessions([{ ...device, since, tokenId: null }])).map(({ reason }) => reason)
  for (const [first, second] of [
    [one, two],
    [two, one],
  ] as const) {
    await come(first, device, 1)
    await come(second, device, 1)
    assert.deepEqual([await staleOn(one), await staleOn(two)], [['taken-over'], []])
    // The one that is closed is not the one that counts.
    await one.recordPresence([{ ...device, online: false, at: startedAt, transport: 'mqtt', session: since }])
    assert.equal(await isOnline(one, device), true)
    await two.recordPresence([{ ...device, online: false, at: startedAt, transport: 'mqtt', session: since }])
    assert.equal(await isOnline(one, device), false)
  }
})

test('a joining node has the clock of the others, however far from the wall clock', async (t) => {
  const { url, stores } = await openStores(t, 1)
  const [one] = stores as [PostgresStore]
  const hour = 60 * minute
  const { clock } = await one.nodes.beat(undefined)
  let begun = performance.now() - hour
  const steady = () => steadyInstant(Math.round(clock + performance.now() - begun))
  await one.nodes.beat(steady())
  // As if some seconds went by.
  begun -= 8000
  await execute(url, 'UPDATE steady_clock SET at = at - 8000')
  const late = await openPostgresStore({ url })
  t.after(() => late.close())
  const before = steady()
  const taken = await late.nodes.beat(undefined)
  assert.ok(taken.clock - steady() <= 5, `it is ${taken.clock - steady()} ms ahead`)
  assert.ok(before - taken.clock < 4000, `it is ${before - taken.clock} ms behind`)
  // The clock of the database jumps: nobody else's does.
  await execute(url, 'UPDATE steady_clock SET at = at - 3600000')
  const after = await one.nodes.beat(steady())
  assert.ok(after.clock - steady() < 4000, `the clock has jumped by ${after.clock - steady()} ms`)
})
