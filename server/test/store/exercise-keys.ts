// What every store keeps of owners and their API keys.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { NewStoredApiKey } from '../../src/domain/ports/api-keys.ts'
import type { Slice } from '../../src/domain/ports/slices.ts'
import { readAll, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

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
  })
  const keysOf = (ownerNo: number, limit?: number) =>
    readAll((slice: Slice<string>) => store.listApiKeys({ ownerNo, slice }), limit)

  await t.test('of those who start at once on an empty store one makes the first owner and key', async () => {
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
    const key = newKey('made', ownerNo)
    const stored = await store.createApiKey(key)
    assert.deepEqual(stored, { ...key, ownerId, revokedAt: null, lastUsedAt: null })
    assert.deepEqual(await store.findApiKey({ keyId: 'made' }), stored)
    assert.deepEqual(await keysOf(ownerNo), [stored])
    assert.equal(await store.findApiKey({ keyId: 'not made' }), undefined)
  })

  await t.test(
    'a revoked key is revoked at once, keeps its first instant, and cannot be revoked by others',
    async () => {
      const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
      await store.createApiKey(newKey('k1', mine.ownerNo))
      await store.createApiKey(newKey('k2', mine.ownerNo))
      assert.equal(
        await store.revokeApiKey({ ownerNo: theirs.ownerNo, keyId: 'k1', at: startedAt + 1 }),
        false,
      )
      assert.equal((await store.findApiKey({ keyId: 'k1' }))?.revokedAt, null)
      assert.equal(await store.revokeApiKey({ ownerNo: mine.ownerNo, keyId: 'k1', at: startedAt + 2 }), true)
      assert.equal(await store.revokeApiKey({ ownerNo: mine.ownerNo, keyId: 'k1', at: startedAt + 3 }), true)
      assert.equal((await store.findApiKey({ keyId: 'k1' }))?.revokedAt, startedAt + 2)
      assert.equal(await store.revokeApiKey({ ownerNo: undefined, keyId: 'k2', at: startedAt + 4 }), true)
      assert.deepEqual(
        (await keysOf(mine.ownerNo)).map((key) => key.revokedAt),
        [startedAt + 2, startedAt + 4],
      )
      assert.equal(
        await store.revokeApiKey({ ownerNo: undefined, keyId: 'nobody has it', at: startedAt }),
        false,
      )
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
}
