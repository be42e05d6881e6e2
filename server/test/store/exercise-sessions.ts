// Sessions and tickets in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { testSize } from '@jobcast/testkit/test-size'
import type { StoredSession } from '../../src/domain/access/ports/sessions.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import { ofKey } from '../support/seed-data.ts'
import { by, readAll, type StoreUnderTest, seedOwner, startedAt, unknownMaker } from './store-under-test.ts'

export async function exerciseSessions(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { ownerNo, ownerId } = await seedOwner(underTest.store)
  for (const keyId of ['sk1', 'sk2']) {
    const key = { keyId, ownerNo, keyName: `name of ${keyId}`, secretHash: new Uint8Array(32), scopes: [] }
    await underTest.store.createApiKey({ ...key, expiresAt: null, createdAt: startedAt, ...unknownMaker })
  }
  const newSession = (sessionId: string, more: Partial<StoredSession> = {}): StoredSession => ({
    sessionId,
    kind: 'session',
    keyId: 'sk1',
    secretHash: new Uint8Array(32).fill(7),
    ownerNo,
    parentId: null,
    address: '192.0.2.1',
    userAgent: null,
    createdAt: startedAt,
    lastUsedAt: startedAt,
    expiresAt: startedAt + 1000,
    ...ofKey,
    ...more,
  })

  await t.test(
    'a session is found with all that was given, also when the store is opened again',
    async () => {
      const [session, ticket] = [newSession('kept'), newSession('ticket', { kind: 'ticket', keyId: 'sk2' })]
      await underTest.store.createSession(session)
      await underTest.store.createSession(ticket)
      const store = await underTest.reopen()
      assert.deepEqual(await store.findSession({ sessionId: 'kept' }), session)
      assert.deepEqual(await store.findSession({ sessionId: 'ticket' }), ticket)
      assert.equal(await store.findSession({ sessionId: 'never made' }), undefined)
    },
  )

  await t.test('one of many concurrent deletions of a session succeeds', async () => {
    const { store } = underTest
    await store.createSession(newSession('once'))
    const deleted = await Promise.all(
      Array.from({ length: 8 }, () => store.deleteSession({ ...by, sessionId: 'once', at: startedAt })),
    )
    assert.deepEqual(deleted.filter(Boolean), [true])
    assert.equal(await store.findSession({ sessionId: 'once' }), undefined)
    assert.equal(await store.deleteSession({ ...by, sessionId: 'once', at: startedAt }), false)
  })

  await t.test('of many that read the groups of a person again one does, until the next try', async () => {
    const { store } = underTest
    const person = { email: 'ana@example.com', owners: ['default'] }
    await store.createSession(newSession('person', { person, tokens: 'sealed', checkedAt: startedAt }))
    const claim = { sessionId: 'person', at: startedAt + 5, triedBy: startedAt + 2 }
    const claimed = await Promise.all(Array.from({ length: 8 }, () => store.claimCheck(claim)))
    assert.deepEqual(claimed.filter(Boolean), [true])
    assert.equal(await store.claimCheck({ ...claim, at: startedAt + 9, triedBy: startedAt + 4 }), false)
    assert.equal(await store.claimCheck({ ...claim, at: startedAt + 9, triedBy: startedAt + 5 }), true)
    const other = { email: null, owners: ['default', 'north'] }
    await store.recordCheck({ sessionId: 'person', person: other, tokens: null, checkedAt: startedAt + 9 })
    const {
      person: found,
      tokens,
      checkedAt,
      triedAt,
    } = (await store.findSession({ sessionId: 'person' })) ?? {}
    assert.deepEqual(
      { found, tokens, checkedAt, triedAt },
      { found: other, tokens: null, checkedAt: startedAt + 9, triedAt: null },
    )
    assert.equal(await store.claimCheck({ ...claim, sessionId: 'never made' }), false)
  })

  await t.test('the key of a person changes with the groups, and is no key that is listed', async () => {
    const { store } = underTest
    const key = { keyId: `user:${ownerNo}:ana`, ownerNo, keyName: 'Ana', secretHash: new Uint8Array(32) }
    const made = { ...key, expiresAt: null, createdAt: startedAt, ...unknownMaker }
    const unlessCheckedAfter = startedAt
    await store.putPersonKey({ ...made, scopes: ['READ'], unlessCheckedAfter })
    const { createdAt, ...put } = await store.putPersonKey({
      ...made,
      unlessCheckedAfter,
      keyName: 'Ana P',
      scopes: ['ADMIN'],
      expiresAt: startedAt + 5,
      createdAt: 1,
    })
    const { keyName, scopes, expiresAt } = put
    assert.deepEqual(
      { keyName, scopes, expiresAt, createdAt },
      { keyName: 'Ana P', scopes: ['ADMIN'], expiresAt: startedAt + 5, createdAt: startedAt },
    )
    assert.deepEqual(await store.findApiKey({ keyId: key.keyId }), { ...put, createdAt })
    const { keyId } = key
    await store.createSession({ ...newSession('of Ana', { checkedAt: startedAt + 1 }), keyId })
    assert.deepEqual(await store.putPersonKey({ ...made, scopes: ['READ'], unlessCheckedAfter }), {
      ...put,
      createdAt,
    })
    assert.deepEqual(await store.findApiKey({ keyId }), { ...put, createdAt })
    const { items } = await store.listApiKeys({ ownerNo, slice: { after: undefined, limit: 100 } })
    assert.equal(
      items.some(({ keyId }) => keyId === key.keyId),
      false,
    )
    const owner = await store.findOwner({ ownerId })
    assert.deepEqual(await store.findOwnerByName({ ownerName: owner?.ownerName ?? '' }), owner)
    assert.equal(await store.findOwnerByName({ ownerName: 'nobody' }), undefined)
  })

  await t.test('expired sessions are purged, the others are not', async () => {
    const { store } = underTest
    for (const [index, expiresAt] of [startedAt - 1, startedAt, startedAt + 1].entries()) {
      await store.createSession(newSession(`s${index}`, { expiresAt }))
    }
    while (await store.purgeSessions({ expiredBy: startedAt }));
    const found = await Promise.all(['s0', 's1', 's2'].map((id) => store.findSession({ sessionId: id })))
    assert.deepEqual(
      found.map((session) => session?.sessionId),
      [undefined, undefined, 's2'],
    )
  })

  await t.test('the last use is stored, and a node with an older value does not overwrite it', async () => {
    const { store } = underTest
    await store.createSession(newSession('used'))
    await store.recordSessionUse([
      { sessionId: 'used', at: startedAt + 5 },
      { sessionId: 'never made', at: startedAt + 5 },
    ])
    await store.recordSessionUse([{ sessionId: 'used', at: startedAt + 4 }])
    assert.equal((await store.findSession({ sessionId: 'used' }))?.lastUsedAt, startedAt + 5)
    while (await store.purgeSessions({ expiredBy: startedAt + 9999 }));
  })

  await t.test(
    'an owner has its valid sessions in a list, without tickets and those of void keys',
    async () => {
      const { store } = underTest
      const other = await seedOwner(store)
      await store.createSession(newSession('l1'))
      await store.createSession(newSession('l2', { keyId: 'sk2', lastUsedAt: startedAt + 7 }))
      await store.createSession(newSession('l3', { kind: 'ticket' }))
      await store.createSession(newSession('l4', { expiresAt: startedAt + 6 }))
      await store.createSession(newSession('l5', { lastUsedAt: startedAt + 2 }))
      const key = {
        ownerNo,
        keyName: 'void',
        secretHash: new Uint8Array(32),
        scopes: [],
        createdAt: startedAt,
      }
      await store.createApiKey({ ...key, ...unknownMaker, keyId: 'sk3', expiresAt: startedAt + 6 })
      await store.createApiKey({ ...key, ...unknownMaker, keyId: 'sk4', expiresAt: null })
      await store.revokeApiKey({ ...by, ownerNo, keyId: 'sk4', withDescendants: false, at: startedAt })
      for (const keyId of ['sk3', 'sk4']) await store.createSession(newSession(`of ${keyId}`, { keyId }))
      const list = (owner: number) =>
        readAll(
          (slice: Slice<string>) =>
            store.listSessions({ ownerNo: owner, slice, now: startedAt + 6, usedAfter: startedAt - 1 }),
          1,
        )
      const listed = await list(ownerNo)
      assert.deepEqual(
        listed.map(({ sessionId, keyName, ownerId }) => [sessionId, keyName, ownerId]),
        [
          ['l1', 'name of sk1', ownerId],
          ['l2', 'name of sk2', ownerId],
          ['l5', 'name of sk1', ownerId],
        ],
      )
      assert.deepEqual(await list(other.ownerNo), [])
      const late = await store.listSessions({
        ownerNo,
        slice: { after: undefined, limit: 9 },
        now: startedAt,
        usedAfter: startedAt + 2,
      })
      assert.deepEqual(
        late.items.map(({ sessionId }) => sessionId),
        ['l2'],
      )
    },
  )

  await t.test(
    'a ticket gives one session, which ends with the session that asked for the ticket',
    async () => {
      const { store } = underTest
      await store.createSession(newSession('parent', { expiresAt: startedAt + 500 }))
      const ticket = (sessionId: string, parentId: string | null) =>
        store.createSession(newSession(sessionId, { kind: 'ticket', parentId }))
      for (const each of ['t1', 't2']) await ticket(each, 'parent')
      await ticket('t0', null)
      const redeem = (ticketId: string, sessionId: string) =>
        store.redeemTicket({ ticketId, session: newSession(sessionId) })
      const redeemed = await Promise.all(['c1', 'c2', 'c3'].map((child) => redeem('t1', child)))
      const [child] = redeemed.filter((each) => each !== undefined)
      assert.equal(redeemed.filter((each) => each !== undefined).length, 1)
      assert.deepEqual([child?.parentId, child?.expiresAt], ['parent', startedAt + 500])
      assert.deepEqual(await store.findSession({ sessionId: child?.sessionId ?? '' }), child)
      assert.equal((await redeem('t0', 'free'))?.expiresAt, startedAt + 1000)
      // A child of the child ends as well.
      await ticket('t3', child?.sessionId ?? '')
      assert.ok(await redeem('t3', 'grandchild'))
      assert.equal(await store.deleteSession({ ...by, sessionId: 'parent', at: startedAt }), true)
      for (const sessionId of ['parent', child?.sessionId ?? '', 'grandchild', 't2'])
        assert.equal(await store.findSession({ sessionId }), undefined)
      assert.equal(await redeem('t2', 'late'), undefined)
      assert.equal((await store.findSession({ sessionId: 'free' }))?.sessionId, 'free')
    },
  )

  await t.test('no session is left of a ticket that is redeemed while its parent ends', async () => {
    const { store } = underTest
    const rounds = testSize('rounds', { test: 2, chaos: 20 })
    for (let round = 0; round < rounds; round++) {
      const parentId = `p${round}`
      await store.createSession(newSession(parentId))
      await store.createSession(newSession(`t${round}`, { kind: 'ticket', parentId }))
      const session = newSession(`child of ${round}`)
      await Promise.all([
        store.redeemTicket({ ticketId: `t${round}`, session }),
        store.deleteSession({ ...by, sessionId: parentId, at: startedAt }),
      ])
      assert.equal(await store.findSession(session), undefined)
    }
  })
}
