import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../src/domain/access/caller.ts'
import type { NewAuditEntry } from '../../src/domain/audit/ports/entries.ts'
import { Refusals } from '../../src/state/refusals.ts'

const share = 200
const callerOf = (ownerNo: number, keyId = `k${ownerNo}`): Caller => {
  return { ownerNo, ownerId: `own${ownerNo}`, keyId, keyName: 'k', scopes: ['READ'] }
}

function openRefusals() {
  const clock = { now: 0 }
  const store = { isAway: false, entries: [] as NewAuditEntry[] }
  const recordAudit = async ({ entries }: { entries: NewAuditEntry[] }) => {
    if (store.isAway) throw new Error('away')
    store.entries.push(...entries)
  }
  const refusals = new Refusals({ recordAudit }, () => clock.now)
  const countOf = (ownerNo: number) => store.entries.filter((entry) => entry.ownerNo === ownerNo).length
  const fill = (ownerNo: number) => {
    for (let key = 0; key < 1500; key++)
      refusals.note(callerOf(ownerNo, `k${ownerNo}-${key}`), 'GET /job/api/audit')
  }
  return { clock, store, refusals, countOf, fill }
}

test('an owner with many refused calls does not displace those of another', async () => {
  const { clock, refusals, countOf, fill } = openRefusals()
  fill(1)
  refusals.note(callerOf(2), 'GET /job/api/audit')
  await refusals.record()
  assert.deepEqual([countOf(1), countOf(2)], [share, 1])
  clock.now = 60_000
  await refusals.record()
  fill(1)
  await refusals.record()
  assert.deepEqual([countOf(1), countOf(2)], [2 * share, 1])
})

test('refusals that could not be written are kept, up to the share of their owner', async () => {
  const { clock, store, refusals, countOf, fill } = openRefusals()
  store.isAway = true
  for (const now of [0, 60_000, 120_000]) {
    clock.now = now
    await refusals.record().catch(() => undefined)
    fill(1)
    await assert.rejects(refusals.record(), /away/)
  }
  refusals.note(callerOf(2), 'GET /job/api/audit')
  await assert.rejects(refusals.record(), /away/)
  store.isAway = false
  await refusals.record()
  assert.deepEqual([countOf(1), countOf(2)], [share, 1])
})
