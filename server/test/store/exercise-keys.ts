// Owners and API keys in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { cachedCaller, callerOfKey, identifyCaller } from '../../src/domain/access/caller.ts'
import type { KeyRevocation, NewStoredApiKey } from '../../src/domain/access/ports/api-keys.ts'
import { hashSecret, newSecretText } from '../../src/domain/access/secret-text.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { newEnrollment } from './enrolling.ts'
import { by, readAll, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

export async function exerciseKeys(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest
  const newKey = (keyId: string, ownerNo: number): NewStoredApiKey => ({
    keyId,
    ownerNo,
    keyName: `name of ${keyId}`,
    secretHash: new Uint8Array(32).fill(ownerNo),
    scopes: ['TRIGGER', 'READ'],
    expiresAt: startedAt + 1000,
    createdAt: startedAt,
    createdBy: null,
    createdBySession: null,
  })
  const revoke = async (
    revocation: Omit<KeyRevocation, 'principal' | 'withDescendants'>,
    withDescendants = false,
  ) => {
    const outcome = await store.revokeApiKey({ ...by, withDescendants, ...revocation })
    return outcome.kind === 'revoked' ? outcome.keyIds.toSorted() : outcome.kind
  }
  const keysOf = (ownerNo: number, limit?: number) =>
    readAll((slice: Slice<string>) => store.listApiKeys({ ownerNo, slice }), limit)

  await t.test('several starts at once on an empty store create one first owner and key', async () => {
    const starts = ['f1', 'f2', 'f3'].map((keyId) => {
      const { ownerNo, ...key } = newKey(keyId, 1)
      return store.createFirstKey({
        owner: { ownerId: `ow_${keyId}`, ownerName: 'default', createdAt: startedAt },
        key,
      })
    })
    const made = await Promise.all(starts)
    assert.deepEqual(made.toSorted(), [false, false, true])
    const winner = `f${made.indexOf(true) + 1}`
    const owner = await store.findOwner({ ownerId: `ow_${winner}` })
    assert.deepEqual((await store.listOwners({ after: undefined, limit: 9 })).items, [owner])
    assert.equal((await store.findApiKey({ keyId: winner }))?.ownerNo, owner?.ownerNo)
    assert.equal((await keysOf(owner?.ownerNo ?? 0)).length, 1)
  })

  await t.test(
    'owners are found by id, listed in the order they came, and have names of their own',
    async () => {
      const first = await seedOwner(store)
      const second = await seedOwner(store)
      const owner = await store.findOwner({ ownerId: second.ownerId })
      assert.deepEqual(owner, {
        ownerNo: second.ownerNo,
        ownerId: second.ownerId,
        ownerName: second.ownerId,
        createdAt: startedAt,
      })
      assert.equal(await store.findOwner({ ownerId: 'ow_nobody' }), undefined)
      const taken = { ownerId: 'ow_other', ownerName: first.ownerId, createdAt: startedAt }
      assert.equal(await store.createOwner(taken), 'name-taken')
      assert.equal(await store.findOwner({ ownerId: 'ow_other' }), undefined)
      const listed = await readAll((slice: Slice<number>) => store.listOwners(slice), 1)
      assert.deepEqual(
        listed.slice(-2).map((each) => each.ownerId),
        [first.ownerId, second.ownerId],
      )
    },
  )

  await t.test('a key is found from the moment it is made, with everything that was given', async () => {
    const { ownerNo, ownerId } = await seedOwner(store)
    const restriction = { jobs: ['restart', 'update-*'], addresses: ['10.0.0.0/8'] }
    const keys = [newKey('made', ownerNo), { ...newKey('restricted', ownerNo), restriction }]
    for (const key of keys) {
      const stored = await store.createApiKey(key)
      assert.deepEqual(stored, { restriction: null, ...key, ownerId, revokedAt: null, lastUsedAt: null })
      assert.deepEqual(await store.findApiKey({ keyId: key.keyId }), stored)
      assert.ok((await keysOf(ownerNo)).some((listed) => isDeepStrictEqual(listed, stored)))
    }
    assert.equal(await store.findApiKey({ keyId: 'not made' }), undefined)
  })

  await t.test(
    'a revoked key is revoked at once, keeps its first instant, and cannot be revoked by others',
    async () => {
      const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
      await store.createApiKey(newKey('k1', mine.ownerNo))
      await store.createApiKey(newKey('k2', mine.ownerNo))
      assert.equal(await revoke({ ownerNo: theirs.ownerNo, keyId: 'k1', at: startedAt + 1 }), 'unknown')
      assert.equal((await store.findApiKey({ keyId: 'k1' }))?.revokedAt, null)
      assert.deepEqual(await revoke({ ownerNo: mine.ownerNo, keyId: 'k1', at: startedAt + 2 }), ['k1'])
      assert.deepEqual(await revoke({ ownerNo: mine.ownerNo, keyId: 'k1', at: startedAt + 3 }), [])
      assert.equal((await store.findApiKey({ keyId: 'k1' }))?.revokedAt, startedAt + 2)
      assert.deepEqual(await revoke({ ownerNo: undefined, keyId: 'k2', at: startedAt + 4 }), ['k2'])
      assert.deepEqual(
        (await keysOf(mine.ownerNo)).map((key) => key.revokedAt),
        [startedAt + 2, startedAt + 4],
      )
      assert.equal(await revoke({ ownerNo: undefined, keyId: 'nobody has it', at: startedAt }), 'unknown')
    },
  )

  await t.test(
    'a key is revoked alone, or with all that descends from it, and their enrollments',
    async () => {
      const [mine, other] = [await seedOwner(store), await seedOwner(store)]
      const make = (keyId: string, maker: string | null, ownerNo = mine.ownerNo) =>
        store.createApiKey({
          ...newKey(keyId, ownerNo),
          createdBy: maker && `key:${maker}`,
          createdBySession: maker && 'session',
        })
      await make('root', null)
      await make('child', 'root')
      await make('grandchild', 'child')
      await make('elsewhere', 'root', other.ownerNo)
      const stranger = await make('stranger', null)
      assert.deepEqual([stranger?.createdBy, stranger?.createdBySession], [null, null])
      const child = await store.findApiKey({ keyId: 'child' })
      assert.deepEqual([child?.createdBy, child?.createdBySession], ['key:root', 'session'])
      const enrollments = await Promise.all(
        ['key:grandchild', 'key:stranger'].map((createdBy) =>
          store.createEnrollment(newEnrollment(mine.ownerNo, { createdBy })),
        ),
      )

      // Alone: what it has created lives on, and what that has created is still found by it.
      assert.deepEqual(await revoke({ ownerNo: mine.ownerNo, keyId: 'child', at: startedAt + 1 }), ['child'])
      assert.equal((await store.findApiKey({ keyId: 'grandchild' }))?.revokedAt, null)
      // Only what the caller can reach.
      const all = await revoke({ ownerNo: mine.ownerNo, keyId: 'root', at: startedAt + 2 }, true)
      assert.deepEqual(all, ['grandchild', 'root'])
      assert.deepEqual(await revoke({ ownerNo: undefined, keyId: 'root', at: startedAt + 3 }, true), [
        'elsewhere',
      ])
      const instants = ['root', 'child', 'grandchild', 'elsewhere', 'stranger'].map(
        async (keyId) => (await store.findApiKey({ keyId }))?.revokedAt,
      )
      assert.deepEqual(await Promise.all(instants), [
        startedAt + 2,
        startedAt + 1,
        startedAt + 2,
        startedAt + 3,
        null,
      ])
      const open = enrollments.map(async (each) => (await store.findEnrollment(each))?.revokedAt)
      assert.deepEqual(await Promise.all(open), [startedAt + 2, null])
      assert.equal(await make('too late', 'root'), undefined)
      assert.equal(await store.findApiKey({ keyId: 'too late' }), undefined)
    },
  )

  await t.test('a key that creates others while it is revoked leaves none behind', async () => {
    const { ownerNo } = await seedOwner(store)
    for (let round = 0; round < 20; round++) {
      const maker = `maker ${round}`
      await store.createApiKey(newKey(maker, ownerNo))
      const making = Array.from({ length: 4 }, (_, index) =>
        store.createApiKey({ ...newKey(`${maker} ${index}`, ownerNo), createdBy: `key:${maker}` }),
      )
      const [, ...made] = await Promise.all([
        revoke({ ownerNo, keyId: maker, at: startedAt }, true),
        ...making,
      ])
      for (const key of made) {
        if (key) assert.equal((await store.findApiKey(key))?.revokedAt, startedAt)
      }
    }
  })

  await t.test(
    'the last key with ADMIN is not revoked, also when two revoke each other at once',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const admin = (keyId: string, more: Partial<NewStoredApiKey> = {}) =>
        store.createApiKey({ ...newKey(keyId, ownerNo), scopes: ['ADMIN'], expiresAt: null, ...more })
      const at = startedAt + 50_000
      await admin('a1')
      await admin('a2', { createdBy: 'key:a1' })
      await admin('expired', { expiresAt: at })
      assert.equal(await revoke({ ownerNo, keyId: 'a1', at }, true), 'last-admin')
      assert.deepEqual(await revoke({ ownerNo, keyId: 'expired', at }), ['expired'])
      const both = await Promise.all(['a1', 'a2'].map((keyId) => revoke({ ownerNo, keyId, at })))
      assert.deepEqual(both.filter((each) => each === 'last-admin').length, 1)
      const left = both[0] === 'last-admin' ? 'a1' : 'a2'
      assert.equal((await store.findApiKey({ keyId: left }))?.revokedAt, null)
      assert.equal(await revoke({ ownerNo, keyId: left, at }), 'last-admin')
      await admin('a3')
      assert.deepEqual(await revoke({ ownerNo, keyId: left, at }), [left])
      assert.equal(await revoke({ ownerNo, keyId: 'a3', at }), 'last-admin')
    },
  )

  await t.test('the last use of each key is kept, and a deleted key does not matter', async () => {
    const { ownerNo } = await seedOwner(store)
    for (const keyId of ['u1', 'u2', 'u3']) await store.createApiKey(newKey(keyId, ownerNo))
    await store.recordKeyUse([
      { keyId: 'u1', at: startedAt + 1 },
      { keyId: 'nobody has it', at: startedAt + 2 },
      { keyId: 'u3', at: startedAt + 2 },
      { keyId: 'u3', at: startedAt + 3 },
    ])
    assert.deepEqual(
      (await keysOf(ownerNo, 2)).map((key) => [key.keyId, key.lastUsedAt]),
      [
        ['u1', startedAt + 1],
        ['u2', null],
        ['u3', startedAt + 3],
      ],
    )
    assert.equal((await store.findApiKey({ keyId: 'u3' }))?.lastUsedAt, startedAt + 3)
  })

  await t.test('a key with a restriction that this version does not know is refused', async () => {
    const { ownerNo } = await seedOwner(store)
    const secret = newSecretText('jc')
    const restriction = { jobs: ['update-*'] }
    const key = { ...newKey(secret.id, ownerNo), secretHash: hashSecret(secret.text), restriction }
    await store.createApiKey(key)
    const ask = async (from: Store) => identifyCaller(from, secret.text, startedAt, undefined)
    assert.deepEqual((await ask(store)).restriction, restriction)
    const unknown = [
      '{"jobs":["update-*"],"regions":["eu"]}',
      '{"regions":["eu"]}',
      '{"jobs":{"not":["a"]}}',
      '{"where":["tag=a"]}',
      '{"addresses":"10.0.0.0/8"}',
      '[]',
      'true',
    ]
    for (const stored of unknown) {
      await underTest.execute(`UPDATE api_key SET restriction = '${stored}' WHERE key_id = '${secret.id}'`)
      const opened = await underTest.reopen()
      await assert.rejects(ask(opened), { code: 'J-802' }, stored)
      assert.equal(cachedCaller(opened, secret.text, startedAt, undefined), undefined, stored)
      await assert.rejects(callerOfKey(opened, secret.id, startedAt, undefined), { code: 'J-802' }, stored)
    }
  })
}
