import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/domain/access/caller.ts'
import { followEvents } from '../../../src/domain/event/follow-events.ts'
import { ChangeSignal } from '../../../src/state/change-signal.ts'
import { openSqliteUnderTest } from '../../store/sqlite-under-test.ts'
import { devicePut, seedOwner, startedAt } from '../../store/store-under-test.ts'

const forever = new AbortController().signal
const fromNow = { after: undefined, since: undefined, filter: {}, callerGone: forever }

test('a stream ends where its next events were purged, and a client that resumes it gets an error', async (t) => {
  const { store } = await openSqliteUnderTest(t)
  const { ownerNo } = await seedOwner(store)
  const caller = { ownerNo, ownerId: 'o1', keyId: 'k1', scopes: ['READ'] } satisfies Partial<Caller> as Caller
  const deps = {
    store,
    newEvents: new ChangeSignal<'all'>(),
    historyChanges: { count: 0 },
    stopping: forever,
  }
  const follow = (after: number | undefined) =>
    followEvents(deps, caller, { ...fromNow, after, isValid: async () => true })
  const stream = await follow(undefined)
  const { upTo } = (await stream.next()).value
  for (const deviceId of ['e1', 'e2', 'e3']) await store.putDevices([devicePut(ownerNo, deviceId)])
  const now = startedAt + 30 * 86_400_000
  while (await store.purgeEvents({ olderThan: now - 86_400_000, now }));
  assert.equal((await stream.next()).done, true, 'it continues behind a gap')
  await assert.rejects(follow(upTo), { code: 'J-306' })
  // From the beginning means from the oldest that is kept.
  const second = await follow(0)
  const { purgedUpTo, newest } = await store.getEventBounds({ ownerNo })
  assert.equal((await second.next()).value.upTo, purgedUpTo)
  assert.equal((await second.next()).value.upTo, newest)
  await second.return(undefined)
})

test('a backlog ends with the page that is being read when the key is revoked', async (t) => {
  const { store } = await openSqliteUnderTest(t)
  const { ownerNo } = await seedOwner(store)
  const caller = { ownerNo, ownerId: 'o1', keyId: 'k1', scopes: ['READ'] } satisfies Partial<Caller> as Caller
  const key = { keyId: 'k1', ownerNo, keyName: 'k1', secretHash: new Uint8Array(32), scopes: [] }
  await store.createApiKey({
    ...{ ...key, expiresAt: null, createdAt: startedAt, createdBy: null, createdBySession: null },
  })
  await store.putDevices(Array.from({ length: 1200 }, (_, index) => devicePut(ownerNo, `b${index}`)))
  const deps = {
    ...{ store, newEvents: new ChangeSignal<'all'>(), historyChanges: { count: 0 } },
    stopping: forever,
  }
  const isValid = async () => (await store.findApiKey({ keyId: 'k1' }))?.revokedAt === null
  const stream = await followEvents(deps, caller, { ...fromNow, after: 0, isValid })
  await stream.next()
  assert.equal((await stream.next()).value.events.length, 500)
  const revocation = { ownerNo, keyId: 'k1', withDescendants: false, principal: 'operator', at: startedAt }
  assert.equal((await store.revokeApiKey(revocation)).kind, 'revoked')
  assert.equal((await stream.next()).done, true, 'a revoked key reads on')
})
