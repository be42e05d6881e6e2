// Quotas in every store: their use, and refused triggers.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CountedQuota } from '../../src/domain/access/ports/quota-counts.ts'
import { ofKey } from '../support/seed-data.ts'
import { newEnrollment } from './enrolling.ts'
import {
  allExecutions,
  by,
  createOne,
  devicePut,
  emptyContent,
  keyTimes,
  momentAt,
  moveOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
  unknownMaker,
} from './store-under-test.ts'

export async function exerciseQuotas(t: TestContext, { store }: StoreUnderTest): Promise<void> {
  await t.test(
    'quotas count existing resources, not deleted, revoked, expired, used up or ended ones',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const used = (quota: CountedQuota, who: number | string = ownerNo) =>
        store.countUsed({ quota, who, at: startedAt })
      const nobody = 2 ** 30
      assert.deepEqual([await used('devices'), await used('devices', nobody)], [3, 0])
      await store.deleteDevice({ ownerNo, deviceId: 'd3', moment: momentAt(startedAt), actor: 'key k1' })
      assert.equal(await used('devices'), 2)
      await store.putDevices([devicePut(ownerNo, 'd3')])
      assert.equal(await used('devices'), 3)

      await store.putJob({ ownerNo, jobName: 'other', content: emptyContent, at: startedAt })
      assert.equal(await used('jobs'), 2)
      await store.deleteJob({ ownerNo, jobName: 'other', at: startedAt })
      assert.equal(await used('jobs'), 1)

      assert.equal(await used('executions'), 0)
      const { firstExecutionId } = await createOne(store, trigger(['d1', 'd2']))
      await createOne(store, trigger(['d1']))
      assert.equal(await used('executions'), 3)
      await store.moveExecution(moveOf(ownerNo, firstExecutionId, 'start'))
      assert.equal(await used('executions'), 3)
      await store.moveExecution(moveOf(ownerNo, firstExecutionId, 'succeed'))
      assert.equal(await used('executions'), 2)

      const key = {
        ...unknownMaker,
        ownerNo,
        keyName: 'k',
        secretHash: new Uint8Array(32),
        scopes: [],
        createdAt: 1,
      }
      const keyId = (name: string) => `${name}${ownerNo}`
      await store.createApiKey({ ...key, keyId: keyId('open'), expiresAt: null })
      await store.createApiKey({ ...key, keyId: keyId('later'), expiresAt: startedAt + 1 })
      await store.createApiKey({ ...key, keyId: keyId('expired'), expiresAt: startedAt })
      await store.createApiKey({ ...key, keyId: keyId('revoked'), expiresAt: null })
      await store.revokeApiKey({
        ...by,
        withDescendants: false,
        ownerNo,
        keyId: keyId('revoked'),
        at: startedAt,
      })
      assert.equal(await used('keys'), 2)

      for (const [index, expiresAt] of [startedAt + 1, startedAt + 1, startedAt].entries()) {
        const enrollmentId = `${ownerNo}e${index}`
        await store.createEnrollment({ ...newEnrollment(ownerNo), enrollmentId, expiresAt })
      }
      await store.revokeEnrollment({ ...by, ownerNo, enrollmentId: `${ownerNo}e0`, at: startedAt })
      assert.equal(await used('enrollments'), 1)

      for (const [index, expiresAt] of [startedAt + 1, startedAt].entries()) {
        const sessionId = `${ownerNo}s${index}`
        const from = { ownerNo, keyId: keyId('open'), parentId: null, address: null, userAgent: null }
        const times = { createdAt: startedAt, lastUsedAt: startedAt, expiresAt }
        const secretHash = new Uint8Array(32)
        await store.createSession({ ...ofKey, ...from, ...times, sessionId, kind: 'session', secretHash })
      }
      assert.deepEqual(
        [await used('key-sessions', keyId('open')), await used('key-sessions', keyId('later'))],
        [1, 0],
      )
    },
  )

  await t.test(
    'a trigger over a quota creates nothing; unknown names and repeated calls take precedence',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const idempotency = { key: 'key', requestHash: new Uint8Array(32), ...keyTimes(startedAt) }
      const before = await createOne(store, trigger(['d1'], { idempotency }))
      const quota = { isOver: true, perDevice: 0 }
      const outcomes = await store.createExecutions([
        trigger(['d1'], { quota }),
        trigger(['d1'], { quota, idempotency }),
        trigger(['missing'], { quota }),
        trigger(['d1'], { quota, jobName: 'missing' }),
        trigger(['d2']),
      ])
      assert.deepEqual(
        outcomes.map(({ kind }) => kind),
        ['over-quota', 'replayed', 'unknown-device', 'unknown-job', 'created'],
      )
      assert.deepEqual(outcomes[1]?.kind === 'replayed' && outcomes[1].run.runId, before.runId)
      assert.equal((await allExecutions(store, ownerNo)).length, 2)
    },
  )

  await t.test('a refused trigger names the devices at the limit of unfinished executions', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const quota = { isOver: false, perDevice: 2 }
    const { firstExecutionId } = await createOne(store, trigger(['d1', 'd2'], { quota }))
    await createOne(store, trigger(['d1', 'd3'], { quota }))
    const full = await store.createExecutions([trigger(['d2', 'd1', 'd3'], { quota })])
    assert.deepEqual(full, [{ kind: 'device-over-quota', deviceIds: ['d1'] }])
    assert.equal((await allExecutions(store, ownerNo)).length, 4)
    await store.moveExecution(moveOf(ownerNo, firstExecutionId, 'cancel'))
    await createOne(store, trigger(['d2', 'd1', 'd3'], { quota }))
  })
}
