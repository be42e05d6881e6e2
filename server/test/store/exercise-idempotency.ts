// Idempotency keys in every store: one run and one response per key.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Trigger } from '../../src/domain/trigger/trigger.ts'
import {
  allRuns,
  answered,
  createOne,
  devicePut,
  keyTimes,
  momentAt,
  runOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const hour = 60 * 60 * 1000

function keyed(key: string, request: string, at = startedAt): Partial<Trigger> {
  return {
    launchedAt: at,
    idempotency: { key, requestHash: hash('sha256', request, 'buffer'), ...keyTimes(at, at - 24 * hour) },
  }
}

export async function exerciseIdempotency(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('the same key and request returns the first run again and creates nothing', async () => {
    const { store, reopen } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const first = await createOne(store, trigger(['d3', 'd1'], keyed('k', 'a')))
    const [again] = await store.createExecutions([trigger(['d3', 'd1'], keyed('k', 'a', startedAt + hour))])
    assert.equal(again?.kind, 'replayed')
    assert.deepEqual(answered(runOf(again)), answered(first))
    const [later] = await (await reopen()).createExecutions([trigger(['d3', 'd1'], keyed('k', 'a'))])
    assert.deepEqual(answered(runOf(later)), answered(first))
    const next = await reopen()
    assert.equal((await allRuns(next, ownerNo)).length, 1)
  })

  await t.test('a repeated or reused key takes no ids: the next run has the next ones', async () => {
    const { store, reopen } = underTest
    const { trigger } = await seedOwner(store)
    const first = await createOne(store, trigger(['d3', 'd1'], keyed('k', 'a')))
    for (const request of ['a', 'a', 'b']) {
      const [again] = await store.createExecutions([trigger(['d3', 'd1'], keyed('k', request))])
      assert.notEqual(again?.kind, 'created')
    }
    const second = await createOne(store, trigger(['d1']))
    assert.deepEqual(
      [second.runId, second.firstExecutionId],
      [first.runId + 1, first.firstExecutionId + first.devices.length],
    )
    // In one group with new ones: what was given to others stays theirs.
    const kinds = (
      await store.createExecutions([
        trigger(['d1'], keyed('k2', 'a')),
        trigger(['d3', 'd1'], keyed('k', 'a')),
        trigger(['d2'], keyed('k3', 'a')),
        trigger(['d3', 'd1'], keyed('k', 'a')),
      ])
    ).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['created', 'replayed', 'created', 'replayed'])
    const opened = await reopen()
    await opened.createExecutions([trigger(['d3', 'd1'], keyed('k', 'a'))])
    const third = await createOne(opened, trigger(['d3', 'd2']))
    const fourth = await createOne(opened, trigger(['d1']))
    assert.equal(fourth.runId, third.runId + 1)
    const ids = [first, second, third, fourth].flatMap(({ firstExecutionId, devices }) =>
      Array.from({ length: devices.length }, (_, index) => firstExecutionId + index),
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  await t.test(
    'a replay is equal also after devices were renamed and deleted, and the job was deleted',
    async () => {
      const { store } = underTest
      const { trigger, ownerNo } = await seedOwner(store)
      const call = trigger(['d1', 'd2', 'd3'], keyed('k', 'a'))
      const first = answered(await createOne(store, call))
      const steps: (() => Promise<unknown>)[] = [
        () => store.putDevices([devicePut(ownerNo, 'd1', 'renamed')]),
        () => store.putDevices([devicePut(ownerNo, 'd1', 'and again')]),
        () => store.deleteDevice({ ownerNo, deviceId: 'd2', moment: momentAt(startedAt), actor: 'key k1' }),
        () => store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt }),
        () => store.putDevices([devicePut(ownerNo, 'd2', 'another one')]),
      ]
      for (const step of steps) {
        await step()
        const [again] = await store.createExecutions([call])
        assert.equal(again?.kind, 'replayed')
        assert.deepEqual(answered(runOf(again)), first)
      }
    },
  )

  await t.test('a key with another request is reused, also one that names unknown things', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const outcomes = await store.createExecutions([
      trigger(['d1'], keyed('k', 'a')),
      trigger(['d2'], keyed('k', 'b')),
      trigger(['missing'], keyed('k', 'c')),
      trigger(['d1'], { ...keyed('k', 'd'), jobName: 'missing' }),
      trigger(['d1'], keyed('k', 'a')),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind),
      ['created', 'idempotency-key-reused', 'idempotency-key-reused', 'idempotency-key-reused', 'replayed'],
    )
    assert.equal((await allRuns(store, ownerNo)).length, 1)
  })

  await t.test('keys of one group are checked separately, next to calls without one', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    // What it names is known to the store from then on.
    await createOne(store, trigger(['d1', 'd2', 'd3']))
    const old = await createOne(store, trigger(['d2', 'd1'], keyed('old', 'a')))
    const outcomes = await store.createExecutions([
      trigger(['d2', 'd1'], keyed('old', 'a')),
      trigger(['d1']),
      trigger(['d3', 'd2'], keyed('new', 'a')),
      trigger(['d1'], keyed('"quoted", \\{NULL}', 'a')),
      trigger(['d2']),
    ])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['replayed', 'created', 'created', 'created', 'created'],
    )
    const [again, ...made] = outcomes.map(runOf)
    assert.deepEqual(again && answered(again), answered(old))
    assert.deepEqual(
      made.map(({ devices }) => devices.map(({ deviceId }) => deviceId)),
      [['d1'], ['d3', 'd2'], ['d1'], ['d2']],
    )
    assert.deepEqual(
      made.map(({ firstExecutionId }) => firstExecutionId - (made[0]?.firstExecutionId ?? 0)),
      [0, 1, 3, 4],
    )
    assert.deepEqual(
      (await allRuns(store, ownerNo)).slice(0, 4).map(({ runId, total }) => [runId, total]),
      made.map(({ runId, devices }) => [runId, devices.length]).reverse(),
    )
    for (const [index, request] of ['a', 'b'].entries()) {
      const [repeated] = await store.createExecutions([trigger(['d3', 'd2'], keyed('new', request))])
      assert.equal(repeated?.kind, index === 0 ? 'replayed' : 'idempotency-key-reused')
    }
  })

  await t.test('a refused trigger does not use up its key', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const call = trigger(['d1', 'late'], keyed('k', 'a'))
    assert.deepEqual(await store.createExecutions([call]), [{ kind: 'unknown-device', deviceIds: ['late'] }])
    await store.putDevices([devicePut(ownerNo, 'late')])
    const [outcome] = await store.createExecutions([call])
    assert.equal(outcome?.kind, 'created')
  })

  await t.test("another owner's key of the same text is another key", async () => {
    const { store } = underTest
    const owners = [await seedOwner(store), await seedOwner(store)]
    const outcomes = await store.createExecutions(
      owners.map((owner) => owner.trigger(['d1'], keyed('k', 'a'))),
    )
    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind),
      ['created', 'created'],
    )
  })

  await t.test('an expired key is taken over, or purged', async () => {
    const { store } = underTest
    const { trigger } = await seedOwner(store)
    const kindAt = async (key: string, request: string, at: number) =>
      (await store.createExecutions([trigger(['d1'], keyed(key, request, at))]))[0]?.kind
    assert.equal(await kindAt('k', 'a', startedAt), 'created')
    assert.equal(await kindAt('k', 'a', startedAt + 24 * hour - 1), 'replayed')
    assert.equal(await kindAt('k', 'b', startedAt + 24 * hour), 'created')
    assert.equal(await kindAt('k', 'a', startedAt + 24 * hour + 1), 'idempotency-key-reused')

    assert.equal(await kindAt('old', 'a', startedAt), 'created')
    assert.equal(await kindAt('young', 'a', startedAt + 1), 'created')
    await store.purgeIdempotencyKeys({ olderThan: steadyInstant(startedAt) })
    assert.equal(await kindAt('old', 'b', startedAt + 2), 'created')
    assert.equal(await kindAt('young', 'b', startedAt + 2), 'idempotency-key-reused')
  })

  await t.test('for any calls, groups and keys, each key has one run and one response', async () => {
    const { store } = underTest
    const call = fc.record({
      key: fc.constantFrom('k1', 'k2', 'k3'),
      deviceIds: fc.subarray(['d1', 'd2', 'd3'], { minLength: 1 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(call, { maxLength: 6 }), { maxLength: 6 }), async (groups) => {
        const { trigger, ownerNo } = await seedOwner(store)
        const sent = groups.map(async (calls) => {
          const triggers = calls.map(({ key, deviceIds }) => trigger(deviceIds, keyed(key, deviceIds.join())))
          const outcomes = await store.createExecutions(triggers)
          return calls.map((each, index) => ({ ...each, outcome: outcomes[index] }))
        })
        const byKey = Map.groupBy((await Promise.all(sent)).flat(), (each) => each.key)
        for (const [first, ...others] of byKey.values()) {
          assert.equal(first?.outcome?.kind, 'created')
          for (const other of others) {
            const same: boolean = other.deviceIds.join() === first?.deviceIds.join()
            assert.equal(other.outcome?.kind, same ? 'replayed' : 'idempotency-key-reused')
            if (same) assert.deepEqual(answered(runOf(other.outcome)), answered(runOf(first?.outcome)))
          }
        }
        assert.equal((await allRuns(store, ownerNo)).length, byKey.size)
      }),
      randomInputs({ test: 5, chaos: 150 }),
    )
  })
}
