// The audit in every store: an entry with each change and none without, seals that continue each other, and its retention.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import type { Caller } from '../../src/domain/access/caller.ts'
import { entryLine } from '../../src/domain/audit/audit-entry.ts'
import { exportAudit } from '../../src/domain/audit/read-audit.ts'
import { auditKey, auditLines, auditSealer, verdictOf } from './sealed-audit.ts'
import {
  createOne,
  emptyContent,
  keyTimes,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const origin = { principal: 'key:ci', name: 'ci', address: '192.0.2.7', requestId: 'r-1' }

export async function exerciseAudit(t: TestContext, { store, failAt }: StoreUnderTest): Promise<void> {
  const sealerAt = (now: number) => auditSealer(store, () => now)
  const list = async (ownerNo: number, filter = {}) => {
    const { items } = await store.listAudit({ ownerNo, filter, slice: { limit: 200 } })
    return items.map((each) => JSON.parse(entryLine(each)))
  }
  const putGroup = (ownerNo: number, where: string, at = startedAt) => {
    const group = { ownerNo, groupName: 'berlin', where, description: null }
    return store.putGroup({ ...group, principal: 'key:ci', lineage: 'key:ci', at, most: 5, ...{ origin } })
  }
  const eventsOf = async (ownerNo: number) => {
    const slice = { after: 0, limit: 100 }
    return (await store.listEvents({ ownerNo, filter: { types: ['audit.*'] }, slice })).events
  }

  await t.test(
    'a change has an entry with principal, address, before and after; a call without a change has none',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const { ownerNo: other } = await seedOwner(store)
      await putGroup(ownerNo, 'site = berlin')
      await putGroup(ownerNo, 'site = berlin')
      await putGroup(ownerNo, 'site = bern', startedAt + 1)
      const [second, first, ...none] = await list(ownerNo, { action: 'group.*' })
      assert.deepEqual(none, [])
      const { auditId, before, after, ...entry } = second
      assert.ok(auditId > first.auditId)
      assert.deepEqual(entry, {
        ...{ at: new Date(startedAt + 1).toISOString(), ...origin, action: 'group.changed' },
        ...{ subject: 'group:berlin', note: null },
      })
      assert.deepEqual([first.before, before.where, after.where], [null, 'site = berlin', 'site = bern'])
      assert.deepEqual(await list(other, { action: 'group.*' }), [])
    },
  )

  await t.test('each new run has one entry, in a group of triggers, with a key and alone', async () => {
    const { ownerNo, trigger: given } = await seedOwner(store)
    const trigger = given(['d1'], { origin })
    const outcomes = await store.createExecutions([trigger, { ...trigger, jobName: 'none' }, trigger])
    const [alone] = await store.createExecutions([trigger])
    const runIds = [...outcomes, alone].flatMap((each) => (each?.kind === 'created' ? [each.run.runId] : []))
    assert.equal(runIds.length, 3)
    const entries = (await list(ownerNo, { action: 'run.created' })).toReversed()
    assert.deepEqual(
      entries.map(({ subject }) => subject),
      runIds.map((runId) => `run:${runId}`),
    )
    for (const { principal, name, address, requestId, before, after } of entries) {
      assert.deepEqual(
        [principal, name, address, requestId],
        [`key:${trigger.keyId}`, 'ci', '192.0.2.7', 'r-1'],
      )
      assert.deepEqual([before, after], [null, { jobName: trigger.jobName, devices: 1 }])
    }
  })

  await t.test(
    'the entry of a run names the person, in a group of triggers, with a key and alone',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const keyId = `user:${ownerNo}:ana:1`
      const person = { principal: 'user:ana:1', name: 'Ana' }
      const given = trigger(['d1'], { origin: { ...origin, ...person }, keyId })
      const keyed = { key: 'once', requestHash: Buffer.alloc(32), ...keyTimes(startedAt, startedAt - 1) }
      await store.createExecutions([given, given])
      await store.createExecutions([given])
      await store.createExecutions([{ ...given, idempotency: keyed }, given])
      const entries = await list(ownerNo, { action: 'run.created' })
      assert.deepEqual(
        entries.map(({ principal, name }) => ({ principal, name })),
        Array.from({ length: 5 }, () => person),
      )
    },
  )

  await t.test('a failed step has no entry', async () => {
    const { ownerNo } = await seedOwner(store)
    const at = startedAt + 77_777
    await failAt(at)
    const put = { ownerNo, jobName: 'fails', content: emptyContent, at, by: 'key:ci', ...{ origin } }
    await assert.rejects(store.putJob(put))
    assert.deepEqual(await list(ownerNo, { subject: 'job:fails' }), [])
  })

  await t.test('entries are sealed once, by the first node, and later changes are detected', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    await createOne(store, trigger(['d1']))
    await sealerAt(startedAt).tick()
    await putGroup(ownerNo, 'site = berlin')
    await putGroup(ownerNo, 'site = bern')
    await Promise.all([sealerAt(startedAt + 1000).tick(), sealerAt(startedAt + 1000).tick()])
    await sealerAt(startedAt + 2000).tick()
    const last = await store.getLastSeal({ ownerNo })
    assert.equal(last?.seal.seal, 2)
    const lines = await auditLines(store, ownerNo)
    const entries = (await list(ownerNo)).length
    const verdict = await verdictOf(store, ownerNo, lines)
    assert.deepEqual(verdict.kind === 'fits' && [verdict.entries, verdict.seals], [entries, 2])
    const changed = lines.map((line) => line.replace('site = bern"', 'site = baku"'))
    const { auditId } = (await list(ownerNo))[0]
    const found = await verdictOf(store, ownerNo, changed)
    assert.deepEqual(found.kind === 'does-not-fit' && found.auditId, auditId)
  })

  await t.test('a seal is announced at most once a minute, and the last one within it', async () => {
    const { ownerNo } = await seedOwner(store)
    const clock = { now: startedAt }
    const sealer = auditSealer(store, () => clock.now)
    for (const where of ['a = 1', 'a = 2', 'a = 3']) {
      await putGroup(ownerNo, where)
      await sealer.tick()
      clock.now += 1000
    }
    assert.deepEqual(
      (await eventsOf(ownerNo)).map(({ data }) => 'seal' in data && data.seal),
      [1],
    )
    clock.now += 60_000
    await sealer.tick()
    await sealer.tick()
    const events = await eventsOf(ownerNo)
    assert.deepEqual(
      events.map(({ data }) => 'seal' in data && data.seal),
      [1, 3],
    )
    assert.deepEqual(events[1]?.data, {
      ...(await store.getLastSeal({ ownerNo }))?.seal,
      publicKey: auditKey,
    })
  })

  await t.test('old seals are purged with their entries; the remaining ones can be verified', async () => {
    const { ownerNo } = await seedOwner(store)
    const onDay = (day: number) => startedAt + day * 24 * 60 * 60_000
    for (const day of [0, 1, 2]) {
      await putGroup(ownerNo, `a = ${day}`)
      await sealerAt(onDay(day)).tick()
    }
    const verdict = async (lines?: string[]) => {
      const exported = lines ?? (await auditLines(store, ownerNo))
      return verdictOf(store, ownerNo, exported, { keptDays: 3, exportedAt: onDay(4.5) })
    }
    while (await store.purgeAudit({ olderThan: onDay(1.5), isSealed: true }));
    assert.equal((await verdict()).kind, 'fits')
    await putGroup(ownerNo, 'a = 9')
    await sealerAt(onDay(4)).tick()
    const lines = await auditLines(store, ownerNo)
    assert.deepEqual(
      (await list(ownerNo)).map(({ after }) => after.where),
      ['a = 9', 'a = 2'],
    )
    assert.equal((await verdict(lines)).kind, 'fits')
    // As somebody would who has only the database: what is sealed afterwards does not cover it.
    const cuts = [await verdict(lines.slice(1)), await verdict(lines.slice(3))]
    while (await store.purgeAudit({ olderThan: onDay(2.5), isSealed: true }));
    await putGroup(ownerNo, 'a = 10')
    await sealerAt(onDay(4.2)).tick()
    for (const cut of [...cuts, await verdict()])
      assert.match(cut.kind === 'does-not-fit' ? cut.because : '', /beginning is missing/)
  })

  await t.test('an export that a purge overtakes fails instead of omitting entries', async () => {
    for (const purged of [1, 2]) {
      const { ownerNo } = await seedOwner(store)
      for (const seal of [0, 1, 2, 3]) {
        await putGroup(ownerNo, `a = ${seal}`)
        await sealerAt(startedAt + seal * 1000).tick()
      }
      const lines = exportAudit({ store }, { ownerNo } as Caller, () => false)
      assert.equal((await lines.next()).done, false)
      const olderThan = startedAt + purged * 1000 + 1
      while (await store.purgeAudit({ olderThan, isSealed: true }));
      await assert.rejects(lines.next(), /purged during an export/)
    }
  })

  await t.test('without sealing, old entries are purged, except the newest one', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [] })
    const left = async () => (await list(ownerNo)).map(({ at }) => Date.parse(at))
    const details = '{"note":null}'
    const entries = [10, 20, 50, 30, 40].map((at) => {
      return { ownerNo, at, principal: 'key:a', action: 'a.b', subject: 'a:1', details }
    })
    await store.recordAudit({ entries })
    while (await store.purgeAudit({ olderThan: 45, isSealed: true }));
    assert.deepEqual(await left(), [40, 30, 50, 20, 10])
    while (await store.purgeAudit({ olderThan: 45, isSealed: false }));
    assert.deepEqual(await left(), [40, 30, 50])
    while (await store.purgeAudit({ olderThan: 100, isSealed: false }));
    assert.deepEqual(await left(), [40])
    await sealerAt(startedAt).tick()
    assert.equal((await verdictOf(store, ownerNo, await auditLines(store, ownerNo))).kind, 'fits')
  })

  await t.test(
    'filters by principal, action, subject and time; pages continue after the last entry',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: [] })
      const entry = (action: string, at: number, principal = 'key:a') => {
        return { ownerNo, at, principal, action, subject: `${action}:1`, details: '{"note":null}' }
      }
      const entries = [entry('a.b', 10), entry('a.c', 20, 'key:b'), entry('d.e', 30), entry('a.b', 40)]
      await store.recordAudit({ entries })
      const times = async (filter: object) => (await list(ownerNo, filter)).map(({ at }) => Date.parse(at))
      assert.deepEqual(await times({}), [40, 30, 20, 10])
      assert.deepEqual(await times({ action: 'a.*' }), [40, 20, 10])
      assert.deepEqual(await times({ principal: 'key:b' }), [20])
      assert.deepEqual(await times({ subject: 'd.e:1' }), [30])
      assert.deepEqual(await times({ after: 10, before: 40 }), [30, 20])
      const first = await store.listAudit({ ownerNo, filter: {}, slice: { limit: 3 } })
      const rest = await store.listAudit({ ownerNo, filter: {}, slice: { after: first.next, limit: 3 } })
      assert.deepEqual(
        rest.items.map(({ at }) => at),
        [10],
      )
      assert.equal(rest.next, undefined)
      const whole = await store.listAudit({ ownerNo, filter: {}, slice: { limit: 4 } })
      assert.equal(whole.next, undefined)
      const some = await store.listAudit({ ownerNo, filter: { action: 'a.*' }, slice: { limit: 1 } })
      const { items } = await store.listAudit({
        ownerNo,
        filter: { action: 'a.*' },
        slice: { after: some.next, limit: 1 },
      })
      assert.deepEqual(
        [...some.items, ...items].map(({ at, details }) => [at, details]),
        [
          [40, '{"note":null}'],
          [20, '{"note":null}'],
        ],
      )
    },
  )

  await chaosSubtest(t, 'a seal of large entries has fewer of them, and all are sealed at once', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [] })
    const details = JSON.stringify({ note: 'x'.repeat(64 * 1024) })
    const entry = { ownerNo, at: startedAt, principal: 'key:a', action: 'a.b', subject: 'a:1' }
    const large = Array.from({ length: 150 }, () => ({ ...entry, details }))
    const small = Array.from({ length: 250 }, () => ({ ...entry, details: '{"note":null}' }))
    await store.recordAudit({ entries: [...large, ...small] })
    await sealerAt(startedAt).tick()
    const lines = await auditLines(store, ownerNo)
    const seals = lines.map((line) => JSON.parse(line)).filter((line) => 'seal' in line)
    assert.deepEqual(
      seals.map(({ entries }) => entries),
      [128, 272],
    )
    assert.equal((await verdictOf(store, ownerNo, lines)).kind, 'fits')
  })
}
