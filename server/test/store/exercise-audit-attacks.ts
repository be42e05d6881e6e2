// Manipulations of the database are detected in every store: by the verifier with a checkpoint that was stored elsewhere, and by a
// node that has seen the seals.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { KnownSeals } from '../../src/domain/audit/known-seals.ts'
import { auditKey, auditLines, auditSealer, checkpointOf, verdictBy } from './sealed-audit.ts'
import { type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

export async function exerciseAuditAttacks(
  t: TestContext,
  { store, execute }: StoreUnderTest,
): Promise<void> {
  /** An owner with three seals of three entries each, and the node that made them. */
  async function sealedOwner() {
    const { ownerNo, ownerId } = await seedOwner(store, { jobs: [], devices: [] })
    const damaged: string[] = []
    const onDamaged = (found: { ownerId: string; because: string }) => {
      if (found.ownerId === ownerId) damaged.push(found.because)
    }
    const known = new KnownSeals(auditKey)
    const sealer = auditSealer(store, () => startedAt, { known, onDamaged })
    const record = async (subject: string) => {
      const entry = { ownerNo, at: startedAt, principal: 'key:a', action: 'a.b', subject }
      await store.recordAudit({ entries: [{ ...entry, details: '{"note":null}' }] })
    }
    for (const seal of [1, 2, 3]) {
      for (const each of ['a', 'b', 'c']) await record(`${seal}${each}`)
      await sealer.tick()
    }
    const checkpoint = await checkpointOf(store, ownerNo)
    assert.equal(checkpoint.seal, 3)
    const { items } = await store.listAudit({ ownerNo, filter: {}, slice: { limit: 20 } })
    const idOf = (subject: string) => items.find((each) => each.subject === subject)?.auditId as number
    const verdict = async () => {
      const found = verdictBy(checkpoint, await auditLines(store, ownerNo))
      return found.kind === 'fits' ? found.kind : { auditId: found.auditId, because: found.because }
    }
    const of = `owner_no = ${ownerNo}`
    return { ownerNo, of, damaged, known, sealer, onDamaged, record, checkpoint, idOf, verdict }
  }
  const found = (verdict: string | { auditId: number | null }) =>
    typeof verdict === 'string' ? verdict : verdict.auditId

  await t.test('two swapped entries', async () => {
    const { of, idOf, verdict, sealer, damaged } = await sealedOwner()
    assert.equal(await verdict(), 'fits')
    const swapped = `CASE subject WHEN '3a' THEN '3b' ELSE '3a' END`
    await execute(`UPDATE audit_entry SET subject = ${swapped} WHERE ${of} AND subject IN ('3a', '3b')`)
    assert.equal(found(await verdict()), idOf('3a'))
    await sealer.check()
    assert.deepEqual(damaged, ['seal 3 has other entries'])
    assert.ok(sealer.damaged >= 1)
  })

  await t.test('later seals do not hide damaged entries', async () => {
    const { of, sealer, damaged, record } = await sealedOwner()
    await execute(`UPDATE audit_entry SET subject = 'other' WHERE ${of} AND subject = '3b'`)
    await sealer.check()
    const before = sealer.damaged
    await record('next')
    await sealer.tick()
    await sealer.check()
    assert.deepEqual([damaged, sealer.damaged], [['seal 3 has other entries'], before])
  })

  await t.test('a deleted seal does not end the export', async () => {
    const { of, verdict } = await sealedOwner()
    await execute(`DELETE FROM audit_seal WHERE ${of} AND seal_no = 2`)
    assert.match(JSON.stringify(await verdict()), /auditId/)
  })

  await t.test('a deleted entry', async () => {
    const { of, idOf, verdict } = await sealedOwner()
    await execute(`DELETE FROM audit_entry WHERE ${of} AND subject = '2b'`)
    // The next one stands in its place.
    assert.equal(found(await verdict()), idOf('2c'))
  })

  await t.test('an added entry', async () => {
    const { of, idOf, verdict, record } = await sealedOwner()
    await record('late')
    await execute(`UPDATE audit_entry SET audit_id = ${idOf('3c')} + 1000000 WHERE ${of} AND subject = '3c'`)
    await execute(`UPDATE audit_entry SET audit_id = ${idOf('3c')} WHERE ${of} AND subject = 'late'`)
    assert.equal(found(await verdict()), idOf('3c'))
  })

  await t.test('a truncated log, which a node that has seen the seals does not seal again', async () => {
    const { ownerNo, of, idOf, verdict, sealer, damaged, record, known, onDamaged } = await sealedOwner()
    await execute(`DELETE FROM audit_seal WHERE ${of} AND seal_no = 3`)
    await execute(`DELETE FROM audit_entry WHERE ${of} AND audit_id >= ${idOf('3a')}`)
    assert.equal(found(await verdict()), idOf('3a'))
    await record('instead')
    await sealer.tick()
    await sealer.tick()
    assert.deepEqual(damaged, [`the end is missing: seal 3, up to entry ${idOf('3c')}`])
    assert.equal((await store.getLastSeal({ ownerNo }))?.seal.seal, 2)
    // One that starts with what was kept in the file says so at once.
    await auditSealer(store, () => startedAt, { known, onDamaged }).check()
    assert.equal(damaged.length, 2)
  })

  await t.test('a new chain after all seals were deleted', async () => {
    const { ownerNo, of, sealer, damaged, record } = await sealedOwner()
    await execute(`DELETE FROM audit_seal WHERE ${of}`)
    await record('new')
    await sealer.tick()
    assert.match(damaged.join(), /^the end is missing: seal 3/)
    assert.equal(await store.getLastSeal({ ownerNo }), undefined)
  })

  await t.test('a second history, sealed with the right key', async () => {
    const { of, verdict, sealer, damaged, idOf } = await sealedOwner()
    await execute(`DELETE FROM audit_seal WHERE ${of} AND seal_no = 3`)
    await execute(`UPDATE audit_entry SET subject = 'other' WHERE ${of} AND subject = '3b'`)
    await auditSealer(store, () => startedAt + 1).tick()
    const fork = await verdict()
    assert.deepEqual(fork, {
      auditId: idOf('3a'),
      because: 'seal 3 is not the checkpoint: the history was written twice',
    })
    await sealer.check()
    assert.deepEqual(damaged, ['seal 3 was replaced by another one'])
  })

  await t.test('a seal with another signature is not continued by any node', async () => {
    const { ownerNo, of, record, onDamaged, damaged } = await sealedOwner()
    const forged = `replace(seal, '"seal":3', '"seal":4')`
    await execute(`UPDATE audit_seal SET seal_no = 4, seal = ${forged} WHERE ${of} AND seal_no = 3`)
    await record('next')
    await auditSealer(store, () => startedAt, { onDamaged }).tick()
    assert.deepEqual(damaged, ['seal 4 is not signed by the key of this service'])
    assert.equal((await store.getLastSeal({ ownerNo }))?.seal.seal, 4)
  })

  await chaosSubtest(t, 'a hundred owners that must not be sealed do not delay the others', async () => {
    const owners: { ownerNo: number; ownerId: string }[] = []
    for (let count = 0; count < 101; count++) owners.push(await seedOwner(store, { jobs: [], devices: [] }))
    const known = new KnownSeals(auditKey)
    const sealer = auditSealer(store, () => startedAt, { known })
    const record = async (subject: string) => {
      const entries = owners.map(({ ownerNo }) => {
        return {
          ownerNo,
          at: startedAt,
          principal: 'key:a',
          action: 'a.b',
          subject,
          details: '{"note":null}',
        }
      })
      await store.recordAudit({ entries })
    }
    await record('first')
    await sealer.tick()
    const last = owners.reduce((one, other) => (other.ownerNo > one.ownerNo ? other : one))
    const others = owners.filter((each) => each !== last).map(({ ownerNo }) => ownerNo)
    await execute(`DELETE FROM audit_seal WHERE owner_no IN (${others.join()})`)
    await record('second')
    await sealer.tick()
    assert.equal((await store.getLastSeal({ ownerNo: last.ownerNo }))?.seal.seal, 2)
    assert.ok(sealer.damaged >= 100)
  })
}
