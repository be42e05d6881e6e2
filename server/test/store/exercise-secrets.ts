// Secrets in every store: the current value and those before it, what uses them, and how far an output with secrets has come.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DeviceKey } from '../../src/domain/device/device-key.ts'
import { output, report, startedBy, update } from './device-reports.ts'
import { schedulePut } from './exercise-schedules.ts'
import {
  by,
  createOne,
  devicePut,
  emptyContent,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const limits = { most: 3, mostFormer: 2 }

export async function exerciseSecrets(t: TestContext, { store }: StoreUnderTest): Promise<void> {
  const put = (ownerNo: number, secretName: string, sealed: string, at = startedAt) =>
    store.putSecret({ ownerNo, secretName, sealed, ...by, at, ...limits })
  const remove = (ownerNo: number, secretName: string) =>
    store.deleteSecret({ ownerNo, secretName, ...by, at: startedAt })
  const putJob = (ownerNo: number, secrets: string[], jobName = 'restart') =>
    store.putJob({ ownerNo, jobName, content: { ...emptyContent, secrets }, at: startedAt })
  const valuesOf = async (ownerNo: number, secretName = 'TOKEN') =>
    (await store.findAllValues({ ownerNo, secretNames: [secretName] })).map(({ sealed }) => sealed)

  const startOne = async (device: DeviceKey) => {
    const started = await startedBy(store, device)
    assert.ok(started)
    return started.jobExecutionId
  }

  await t.test(
    'one value is current, former ones are kept up to a number, and others see nothing',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const { ownerNo: other } = await seedOwner(store)
      for (const sealed of ['v1', 'v2', 'v3', 'v4']) await put(ownerNo, 'TOKEN', sealed)
      assert.deepEqual(await store.findSecrets({ ownerNo, secretNames: ['TOKEN', 'NONE'] }), [
        { secretName: 'TOKEN', sealed: 'v4' },
      ])
      assert.deepEqual(await valuesOf(ownerNo), ['v4', 'v3', 'v2'])
      assert.deepEqual(await valuesOf(other), [])
      assert.equal((await remove(other, 'TOKEN')).kind, 'unknown-secret')
      assert.equal(await store.getSecret({ ownerNo: other, secretName: 'TOKEN' }), undefined)
      assert.equal((await put(ownerNo, 'B', 'b')).kind, 'put')
      assert.equal((await put(ownerNo, 'C', 'c')).kind, 'put')
      assert.equal((await put(ownerNo, 'D', 'd')).kind, 'too-many')
      assert.equal((await put(ownerNo, 'C', 'c2')).kind, 'put')
      const slice = { after: undefined, limit: 2 }
      const { items, next } = await store.listSecrets({ ownerNo, slice })
      assert.deepEqual([items.map(({ secretName }) => secretName), next], [['B', 'C'], 'C'])
    },
  )

  await t.test(
    'users of a secret are named and prevent its deletion; a job cannot name a missing one',
    async () => {
      const seed = await seedOwner(store)
      const { ownerNo, trigger } = seed
      assert.equal((await putJob(ownerNo, ['TOKEN'])).lacksSecret, 'TOKEN')
      await put(ownerNo, 'TOKEN', 'v1')
      assert.ok(!(await putJob(ownerNo, ['TOKEN'])).isRefused)
      const used = await store.getSecret({ ownerNo, secretName: 'TOKEN' })
      assert.deepEqual(used?.usedBy, { jobNames: ['restart'], scheduleNames: [], runIds: [] })
      await store.putSchedule(schedulePut(seed, { scheduleName: 'nightly' }))
      const { runId } = await createOne(store, trigger(['d1']))
      assert.deepEqual(await remove(ownerNo, 'TOKEN'), {
        kind: 'in-use',
        ...{ jobNames: ['restart'], scheduleNames: ['nightly'], runIds: [runId] },
      })
      await putJob(ownerNo, [])
      assert.deepEqual(await remove(ownerNo, 'TOKEN'), {
        kind: 'in-use',
        ...{ jobNames: [], scheduleNames: [], runIds: [runId] },
      })
      const device = { ownerNo, deviceId: 'd1' }
      const jobExecutionId = await startOne(device)
      const asked = await report(
        store,
        update(device, jobExecutionId, 'SUCCEEDED', { statusDetails: { a: 'b' } }),
      )
      assert.equal(asked.kind, 'needs-mask')
      await report(store, {
        ...update(device, jobExecutionId, 'SUCCEEDED', { statusDetails: { a: 'b' } }),
        maskedFor: runId,
      })
      assert.deepEqual(await remove(ownerNo, 'TOKEN'), { kind: 'deleted' })
    },
  )

  await t.test('a former value stays while an unfinished run may have got it', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    await put(ownerNo, 'TOKEN', 'v1', startedAt - 2)
    await put(ownerNo, 'TOKEN', 'v2', startedAt - 1)
    await putJob(ownerNo, ['TOKEN'])
    const { runId } = await createOne(store, trigger(['d1']))
    await put(ownerNo, 'TOKEN', 'v3', startedAt + 10_000_000)
    await store.purgeFormerValues()
    assert.deepEqual(await valuesOf(ownerNo), ['v3', 'v2'])
    const device = { ownerNo, deviceId: 'd1' }
    await report(store, { ...update(device, await startOne(device), 'SUCCEEDED'), maskedFor: runId })
    await store.purgeFormerValues()
    assert.deepEqual(await valuesOf(ownerNo), ['v3'])
  })

  await t.test('masked output counts what its device has sent, not what is stored', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    await put(ownerNo, 'TOKEN', 'v1')
    await putJob(ownerNo, ['TOKEN'])
    await store.putDevices([devicePut(ownerNo, 'd1')])
    const { runId } = await createOne(store, trigger(['d1']))
    const device = { ownerNo, deviceId: 'd1' }
    const jobExecutionId = await startOne(device)
    const sent = output(device, jobExecutionId, 0, 'a secret', { maxBytes: 1000 })
    assert.equal((await report(store, sent)).kind, 'needs-mask')
    const part = { attempt: 1, pieces: 0, from: 0, received: 8, data: Buffer.from('a ****'), held: 'sealed' }
    const masked = { ...sent, maskedFor: runId, masked: part }
    assert.deepEqual(await report(store, masked), { kind: 'output-kept', length: 8, cut: false, runId })
    // Somebody else has added to it.
    assert.equal((await report(store, masked)).kind, 'needs-mask')
    assert.deepEqual(await store.getOutputState({ jobExecutionId }), {
      ...{ attempt: 1, pieces: 1, received: 8, held: 'sealed' },
    })
    const tail = { attempt: 1, pieces: 1, received: 8, data: Buffer.from('!') }
    const end = { ...update(device, jobExecutionId, 'SUCCEEDED'), maskedFor: runId, tail }
    assert.equal((await report(store, end)).kind, 'done')
    const slice = await store.readOutput({
      ownerNo,
      jobExecutionId,
      offset: 0,
      limit: 99,
      attempt: undefined,
    })
    assert.equal(Buffer.from(slice?.data ?? []).toString(), 'a ****!')
    assert.equal((await store.getOutputState({ jobExecutionId }))?.held, null)
  })
}
