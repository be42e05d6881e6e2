// Nodes cache API keys. After a change by another node, a trigger uses the state of the key at the time of its write.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { waitUntil } from '@jobcast/testkit/wait-until'
import pg from 'pg'
import type { CachedKey } from '../../src/domain/access/ports/api-keys.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { Trigger, TriggerOutcome } from '../../src/domain/trigger/trigger.ts'
import { CachedKeys } from '../../src/store/postgres/cached-keys.ts'
import { locks } from '../../src/store/postgres/locks.ts'
import { buildNamedQueries } from '../../src/store/postgres/named-queries.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { openNodes } from './postgres-under-test.ts'
import {
  by,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  seedOwner,
  startedAt,
  unknownMaker,
} from './store-under-test.ts'

const newKey = (ownerNo: number, keyId: string) => ({
  ...{
    ...unknownMaker,
    keyId,
    ownerNo,
    keyName: keyId,
    secretHash: new Uint8Array(32),
    createdAt: startedAt,
  },
  ...{ scopes: ['TRIGGER' as const], expiresAt: null },
})
const revoke = (node: Store, keyId: string, withDescendants = false) =>
  node.revokeApiKey({ ...by, withDescendants, ownerNo: undefined, keyId, at: startedAt })
const lookUpCached = (node: Store, keyId: string): CachedKey => {
  const recalled = node.cachedApiKey({ keyId })
  assert.ok(recalled)
  return recalled
}
/** As a trigger of somebody who was recalled. */
const withKey = (node: Store, keyId: string) => ({ keyId, keyAsOf: lookUpCached(node, keyId).asOf })

test(`keys and names change on any node between triggers on any node, and no void key makes a run (seed ${testSeed})`, async (t) => {
  const { nodes } = await openNodes(t)
  const random = seededRandom(testSeed)
  const owners = [await seedOwner(nodes[0]), await seedOwner(nodes[0])] as const
  /** Of each key, whose it is and whether it is valid. */
  const keys = new Map<string, { owner: (typeof owners)[number]; isValid: boolean; parent: string | null }>()
  const create = async (node: Store, round: number) => {
    const owner = random.pick([...owners])
    const makers = [...keys].filter(([, key]) => key.isValid && key.owner === owner).map(([keyId]) => keyId)
    const parent = makers.length > 0 && random.below(2) === 0 ? random.pick(makers) : null
    const keyId = `key-${round}`
    const createdBy = parent === null ? null : `key:${parent}`
    assert.ok(await node.createApiKey({ ...newKey(owner.ownerNo, keyId), createdBy }))
    keys.set(keyId, { owner, isValid: true, parent })
  }
  const isBelow = (keyId: string | null, top: string): boolean =>
    keyId !== null && (keyId === top || isBelow(keys.get(keyId)?.parent ?? null, top))
  const change = async (node: Store, round: number) => {
    const steps: (() => Promise<unknown>)[] = [
      () => create(node, round),
      async () => {
        const keyId = random.pick([...keys.keys()])
        const withDescendants = random.below(2) === 0
        await revoke(node, keyId, withDescendants)
        for (const [each, key] of keys) {
          if (each === keyId || (withDescendants && isBelow(each, keyId))) key.isValid = false
        }
      },
      () => node.putDevices([devicePut(random.pick([...owners]).ownerNo, 'd1', `name ${round}`)]),
      () => node.recordKeyUse([{ keyId: random.pick([...keys.keys()]), at: startedAt + round }]),
    ]
    await random.pick(steps)()
  }
  const check = async (node: Store) => {
    const triggers: Trigger[] = []
    for (const [keyId, { owner, isValid }] of keys) {
      if (random.below(3) > 0) continue
      if (node.cachedApiKey({ keyId }) === undefined) {
        const found = await node.findApiKey({ keyId })
        assert.equal(found?.revokedAt === null, isValid)
        if (!isValid) assert.equal(node.cachedApiKey({ keyId }), undefined)
      }
      const recalled = node.cachedApiKey({ keyId })
      if (recalled) triggers.push(owner.trigger(['d1'], { keyId, keyAsOf: recalled.asOf }))
    }
    const outcomes = await node.createExecutions(triggers)
    for (const [index, { keyId }] of triggers.entries()) {
      assert.equal(outcomes[index]?.kind, keys.get(keyId)?.isValid ? 'created' : 'key-changed')
    }
  }
  await create(nodes[0], -1)
  await create(nodes[1], -2)
  for (let round = 0; round < 300; round++) {
    if (random.below(3) === 0) await change(random.pick(nodes), round)
    else await check(random.pick(nodes))
  }
})

const many = Array.from({ length: 1200 }, (_, index) => `d${index}`)
const keyed = {
  idempotency: { key: 'once', requestHash: hash('sha256', 'once', 'buffer'), ...keyTimes(startedAt) },
}
const groups: [string, string[], Partial<Trigger>][] = [
  ['a small group', ['d1'], {}],
  ['a large group', many, {}],
  ['a call with an idempotency key', ['d1'], keyed],
]
const changes: [string, (node: Store, url: string) => Promise<unknown>][] = [
  ['is revoked', (node) => revoke(node, 'void')],
  ['is revoked with its maker', (node) => revoke(node, 'maker', true)],
  ['is deleted', (_, url) => execute(url, "DELETE FROM api_key WHERE key_id = 'void'")],
  ['loses its scope', (_, url) => execute(url, "UPDATE api_key SET scopes = '[]' WHERE key_id = 'void'")],
]

for (const [which, deviceIds, more] of groups) {
  for (const [what, change] of changes) {
    test(`a key ${what} after it was recalled for ${which}, and before that is written`, async (t) => {
      const { url, nodes } = await openNodes(t)
      const [node, elsewhere] = nodes
      const { ownerNo, trigger } = await seedOwner(node, { devices: many })
      await node.createApiKey(newKey(ownerNo, 'maker'))
      await node.createApiKey({ ...newKey(ownerNo, 'void'), createdBy: 'key:maker' })
      await node.createApiKey(newKey(ownerNo, 'other'))
      await Promise.all(['void', 'other'].map((keyId) => node.findApiKey({ keyId })))
      // So that the names are remembered as well.
      await createOne(node, trigger(many))
      const other = new pg.Client(url)
      await other.connect()
      t.after(() => other.end())
      await other.query('BEGIN')
      await other.query(`SELECT pg_advisory_xact_lock(${locks.catalogueOfOwner}, ${ownerNo})`)
      const written = node.createExecutions([
        trigger(deviceIds, { ...more, ...withKey(node, 'void') }),
        trigger(['d2'], withKey(node, 'other')),
      ])
      await waitUntil('it waits for the lock', async () => {
        const waiting =
          'SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()'
        return (await execute(url, waiting)).length > 0
      })
      // A revocation waits for nobody.
      await change(elsewhere, url)
      await other.query('COMMIT')
      const kinds = (outcomes: TriggerOutcome[]) => outcomes.map(({ kind }) => kind)
      assert.deepEqual(kinds(await written), ['key-changed', 'created'])
      const made = await execute(url, "SELECT key_id FROM run WHERE key_id = 'void'")
      assert.equal(made.length, 0)
      // The other one is remembered with what is so now.
      const again = await node.createExecutions([trigger(['d2'], withKey(node, 'other'))])
      assert.deepEqual(kinds(again), ['created'])
    })
  }
}

test('a key that is used, or is new, makes nobody look up the others again', async (t) => {
  const { nodes } = await openNodes(t)
  const [node, elsewhere] = nodes
  const { ownerNo } = await seedOwner(node)
  await node.createApiKey(newKey(ownerNo, 'one'))
  await node.findApiKey({ keyId: 'one' })
  const before = lookUpCached(node, 'one')
  await elsewhere.recordKeyUse([{ keyId: 'one', at: startedAt }])
  await elsewhere.createApiKey(newKey(ownerNo, 'two'))
  await node.findApiKey({ keyId: 'one' })
  assert.equal(lookUpCached(node, 'one').asOf, before.asOf)
  await revoke(elsewhere, 'two')
  await node.findApiKey({ keyId: 'one' })
  assert.notEqual(lookUpCached(node, 'one').asOf, before.asOf)
})

test('a key whose names have changed is looked up in the same transaction', async (t) => {
  const { nodes } = await openNodes(t)
  const [node, elsewhere] = nodes
  const { ownerNo, trigger } = await seedOwner(node)
  await node.createApiKey(newKey(ownerNo, 'one'))
  await node.findApiKey({ keyId: 'one' })
  const old = withKey(node, 'one')
  await elsewhere.deleteDevice({ ownerNo, deviceId: 'd1', moment: momentAt(startedAt), actor: 'key k1' })
  const [made, unknown] = await node.createExecutions([trigger(['d2'], old), trigger(['d1'], old)])
  assert.deepEqual([made?.kind, unknown?.kind], ['created', 'unknown-device'])
  assert.notEqual(lookUpCached(node, 'one').asOf, old.keyAsOf)
})

test('no more keys are remembered than the bound', async (t) => {
  const url = await createDatabase(await sharedPostgres())
  const store = await openPostgresStore({ url })
  t.after(() => store.close())
  const { ownerNo } = await seedOwner(store)
  for (const keyId of ['a', 'b', 'c']) await store.createApiKey(newKey(ownerNo, keyId))
  const client = new pg.Client(url)
  await client.connect()
  t.after(() => client.end())
  const keys = new CachedKeys(2)
  const queries = buildNamedQueries((sql, values) => client.query(sql, [...values]))
  await keys.find(queries, ['a', 'b', 'c'])
  assert.deepEqual(['a', 'b', 'c'].filter((keyId) => keys.lookUpCached(keyId)).length, 1)
})
