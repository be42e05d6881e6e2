// Plans are kept for their owner, as many as fit, until they are purged; of each there is one run.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import { createOne, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

export async function exercisePlans(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const planOf = (ownerNo: number, planId: string, age = 0, note = 'as asked') => ({
    ...{ ownerNo, planId, plannedBy: 'key:k1', createdAt: steadyInstant(startedAt - age) },
    request: { jobName: 'restart', targets: { deviceIds: ['d1'] }, note },
    values: { parameters: { token: '********' }, secrets: '1.sealed' },
    boundTo: { currentNo: 1, versionNo: 1, window: null, total: 1, devices: 'digest' },
  })
  const many = { most: 100, mostBytes: 1_000_000 }

  await t.test('a plan is read as it was kept, by its owner only, until it is purged', async () => {
    const { store, reopen } = underTest
    const [one, other] = [await seedOwner(store), await seedOwner(store)]
    const { ownerNo, ...kept } = planOf(one.ownerNo, `plan-${one.ownerNo}`)
    await store.keepPlan({ ownerNo, ...kept, ...many })
    const { ownerNo: _, ...bare } = { ...planOf(ownerNo, `bare-${ownerNo}`, 1), values: null }
    await store.keepPlan({ ownerNo, ...bare, ...many })
    const again = await reopen()
    assert.deepEqual(await again.getPlan({ ownerNo, planId: kept.planId }), kept)
    assert.deepEqual(await again.getPlan({ ownerNo, planId: bare.planId }), bare)
    assert.equal(await again.getPlan({ ownerNo: other.ownerNo, planId: kept.planId }), undefined)
    while (await again.purgePlans({ olderThan: steadyInstant(startedAt - 1) }));
    assert.equal(await again.getPlan({ ownerNo, planId: bare.planId }), undefined)
    assert.ok(await again.getPlan({ ownerNo, planId: kept.planId }))
  })

  await t.test('of too many plans, or too large ones, the oldest of the owner are dropped', async () => {
    const { store } = underTest
    const [one, other] = [await seedOwner(store), await seedOwner(store)]
    const { ownerNo } = one
    await store.keepPlan({ ...planOf(other.ownerNo, `theirs-${ownerNo}`, 99), ...many })
    const left = async () => {
      const ids = ['a', 'b', 'c', 'd'].map((name) => `${name}-${ownerNo}`)
      const found = await Promise.all(ids.map((planId) => store.getPlan({ ownerNo, planId })))
      return found.flatMap((plan) => plan?.planId[0] ?? [])
    }
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      await store.keepPlan({
        ...planOf(ownerNo, `${name}-${ownerNo}`, 10 - index),
        most: 2,
        mostBytes: 100_000,
      })
    }
    assert.deepEqual(await left(), ['b', 'c'])
    const large = planOf(ownerNo, `d-${ownerNo}`, 0, 'x'.repeat(5000))
    await store.keepPlan({ ...large, most: 9, mostBytes: 3000 })
    assert.deepEqual(await left(), ['d'], 'the newest is kept, however large')
    assert.ok(await store.getPlan({ ownerNo: other.ownerNo, planId: `theirs-${ownerNo}` }))
  })

  await t.test('there is one run of a plan, and it is found by it', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const planId = `once-${ownerNo}`
    assert.equal(await store.findPlannedRun({ ownerNo, planId }), undefined)
    const request = { where: null, matched: null, note: null, rollbackOf: null, planId, plannedBy: 'key:k1' }
    const { runId } = await createOne(store, trigger(['d1'], { request }))
    await assert.rejects(store.createExecutions([trigger(['d2'], { request })]))
    assert.equal(await store.findPlannedRun({ ownerNo, planId }), runId)
    assert.equal(await store.findPlannedRun({ ownerNo: ownerNo + 1, planId }), undefined)
  })
}
