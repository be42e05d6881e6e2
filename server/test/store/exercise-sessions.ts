// What every store keeps of sessions and tickets.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StoredSession } from '../../src/domain/ports/sessions.ts'
import { type StoreUnderTest, startedAt } from './store-under-test.ts'

export async function exerciseSessions(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const newSession = (sessionId: string, more: Partial<StoredSession> = {}): StoredSession => ({
    sessionId,
    kind: 'session',
    keyId: 'k1',
    secretHash: new Uint8Array(32).fill(7),
    expiresAt: startedAt + 1000,
    ...more,
  })

  await t.test(
    'a session is found with all that was given, also when the store is opened again',
    async () => {
      const [session, ticket] = [newSession('kept'), newSession('ticket', { kind: 'ticket', keyId: 'k2' })]
      await underTest.store.createSession(session)
      await underTest.store.createSession(ticket)
      const store = await underTest.reopen()
      assert.deepEqual(await store.findSession({ sessionId: 'kept' }), session)
      assert.deepEqual(await store.findSession({ sessionId: 'ticket' }), ticket)
      assert.equal(await store.findSession({ sessionId: 'never made' }), undefined)
    },
  )

  await t.test('of many that delete one at once a single one has done it, and it is gone', async () => {
    const { store } = underTest
    await store.createSession(newSession('once'))
    const deleted = await Promise.all(
      Array.from({ length: 8 }, () => store.deleteSession({ sessionId: 'once' })),
    )
    assert.deepEqual(deleted.filter(Boolean), [true])
    assert.equal(await store.findSession({ sessionId: 'once' }), undefined)
    assert.equal(await store.deleteSession({ sessionId: 'once' }), false)
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
}
