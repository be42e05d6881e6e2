// Every store gives the same answers after it was closed and opened again, whatever it keeps in memory.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates } from '@jobcast/contract'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import {
  allExecutions,
  allRuns,
  bringTo,
  by,
  createOne,
  devicePut,
  emptyContent,
  momentAt,
  moveOf,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
  unknownMaker,
} from './store-under-test.ts'

const devices = ['d1', 'd2', 'd3', 'renamed', 'deleted', 'deleted and back']
const now = momentAt(startedAt)

export async function exerciseReopening(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('all data is the same after reopening', async () => {
    const { store, reopen } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'gone', 'back'], devices })
    for (let count = 0; count < 12; count++) await createOne(store, trigger(devices))
    const listed = await allExecutions(store, ownerNo)
    for (const [index, state] of execStates.entries()) {
      await bringTo(store, ownerNo, listed[index * 3]?.jobExecutionId ?? 0, state)
    }
    const canceled = listed[40]?.jobExecutionId ?? 0
    await store.moveExecution(moveOf(ownerNo, canceled, 'cancel'))
    await store.putDevices([devicePut(ownerNo, 'renamed', 'new name')])
    await store.deleteDevice({ ownerNo, deviceId: 'deleted', moment: now, actor: 'key k1' })
    await store.deleteDevice({ ownerNo, deviceId: 'deleted and back', moment: now, actor: 'key k1' })
    await store.putDevices([{ ...devicePut(ownerNo, 'deleted and back'), tags: ['t'] }])
    await store.deleteJob({ ownerNo, jobName: 'gone', at: startedAt })
    await store.deleteJob({ ownerNo, jobName: 'back', at: startedAt })
    await store.putJob({ ownerNo, jobName: 'back', content: emptyContent, at: startedAt })
    await createOne(store, trigger(['d1', 'renamed']))
    const key = { keyId: 'kept', ownerNo, keyName: 'k', secretHash: new Uint8Array(32), createdAt: startedAt }
    await store.createApiKey({ ...unknownMaker, ...key, scopes: [], expiresAt: null })
    await store.createApiKey({
      ...unknownMaker,
      ...key,
      keyId: 'revoked',
      scopes: ['READ'],
      expiresAt: startedAt,
    })
    await store.revokeApiKey({ ...by, withDescendants: false, ownerNo, keyId: 'revoked', at: startedAt })
    await store.recordKeyUse([{ keyId: 'kept', at: startedAt + 8 }])

    const before = await everything(store, ownerNo)
    assert.deepEqual(await everything(await reopen(), ownerNo), before)
  })

  await t.test('pending executions of a device are the same after reopening', async () => {
    const { store, reopen } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const runs = [await createOne(store, trigger(['d1', 'd2'])), await createOne(store, trigger(['d1']))]
    const again = await reopen()
    runs.push(await createOne(again, trigger(['d1'])))
    const deleted = await again.deleteDevice({ ownerNo, deviceId: 'd1', moment: now, actor: 'key k1' })
    assert.deepEqual(
      deleted?.map((moved) => moved.runId),
      runs.map((run) => run.runId),
    )
    const left = await allExecutions(again, ownerNo, { execStates: ['PENDING'] })
    assert.deepEqual(
      left.map((execution) => execution.deviceId),
      ['d2'],
    )
  })

  await t.test('unknown and refused requests remain so after reopening', async () => {
    const { store, reopen } = underTest
    const { ownerNo, trigger } = await seedOwner(store, { jobs: ['restart', 'gone'] })
    await store.deleteJob({ ownerNo, jobName: 'gone', at: startedAt })
    await store.deleteDevice({ ownerNo, deviceId: 'd2', moment: now, actor: 'key k1' })
    const triggers = [
      trigger(['d1'], { jobName: 'gone' }),
      trigger(['d2']),
      trigger(['d1']),
      trigger(['d1', 'd3']),
    ]
    const kinds = async (of: Store) => (await of.createExecutions(triggers)).map((outcome) => outcome.kind)
    const before = await kinds(store)
    assert.deepEqual(before, ['unknown-job', 'unknown-device', 'created', 'created'])
    assert.deepEqual(await kinds(await reopen()), before)
  })

  await t.test('steps sent before closing are done, later ones reject', async () => {
    const { store, reopen } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const sent = store.createExecutions([trigger(['d1']), trigger(['d2'])])
    const closed = store.close()
    assert.deepEqual(
      (await sent).map((outcome) => outcome.kind),
      ['created', 'created'],
    )
    await closed
    await assert.rejects(store.createExecutions([trigger(['d1'])]), StorageUnavailable)
    await assert.rejects(store.checkHealth(), StorageUnavailable)
    await assert.rejects(allRuns(store, ownerNo), StorageUnavailable)
    await store.close()
    assert.equal((await allRuns(await reopen(), ownerNo)).length, 2)
  })
}

async function everything(store: Store, ownerNo: number) {
  const byDevice = devices.map((deviceId) => allExecutions(store, ownerNo, { deviceId }, 7))
  return {
    executions: await allExecutions(store, ownerNo),
    executionsByDevice: await Promise.all(byDevice),
    runs: await allRuns(store, ownerNo),
    jobs: await readAll((slice: Slice<string>) => store.listJobs({ ownerNo, slice })),
    devices: await readAll((slice: Slice<string>) => store.listDevices({ ownerNo, filter: {}, slice })),
    tagged: await readAll((slice: Slice<string>) =>
      store.listDevices({ ownerNo, filter: { tag: 't' }, slice }),
    ),
    keys: await readAll((slice: Slice<string>) => store.listApiKeys({ ownerNo, slice })),
    found: [await store.findApiKey({ keyId: 'kept' }), await store.findApiKey({ keyId: 'revoked' })],
  }
}
