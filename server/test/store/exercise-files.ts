// Files in every store: versions, which is the newest, what uses them, and which content is needed.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { by, createOne, emptyContent, type StoreUnderTest, seedOwner, startedAt } from './store-under-test.ts'

export async function exerciseFiles(t: TestContext, { store }: StoreUnderTest): Promise<void> {
  const put = (ownerNo: number, version: string, sha256: string, more: object = {}) =>
    store.putFile({
      ...{ ownerNo, fileName: 'app', version, size: 10, sha256, sha1: null, md5: null, url: null },
      ...{ ...by, at: startedAt, most: 3, mostBytes: 25, ...more },
    })
  const remove = async (ownerNo: number, version: string) =>
    (await store.deleteFile({ ownerNo, fileName: 'app', version, ...by, at: startedAt })).kind
  const found = async (ownerNo: number, ...refs: string[]) =>
    (await store.findFiles({ ownerNo, refs })).map(({ ref, version, isNewest }) => [ref, version, isNewest])
  const putJob = (ownerNo: number, files: string[]) =>
    store.putJob({ ownerNo, jobName: 'restart', content: { ...emptyContent, files }, at: startedAt })

  await t.test(
    'a version keeps its content, the last one put is the newest, others see nothing',
    async () => {
      const { ownerNo } = await seedOwner(store)
      const { ownerNo: other } = await seedOwner(store)
      assert.equal((await put(ownerNo, '2', 'a')).kind, 'put')
      assert.equal((await put(ownerNo, '1', 'b')).kind, 'put')
      const again = await put(ownerNo, '2', 'a')
      assert.ok(again.kind === 'put' && !again.created && !again.value.isNewest)
      for (const more of [{ size: 11 }, { url: 'https://x' }])
        assert.equal((await put(ownerNo, '2', 'a', more)).kind, 'other-content')
      assert.equal((await put(ownerNo, '2', 'c')).kind, 'other-content')
      assert.deepEqual(await found(ownerNo, 'app', 'app@2', 'app@3', 'none'), [
        ['app', '1', true],
        ['app@2', '2', false],
      ])
      assert.deepEqual(await found(other, 'app', 'app@2'), [])
      assert.equal(await remove(other, '2'), 'unknown-file')
      const { items, next } = await store.listFileVersions({
        ...{ ownerNo, fileName: 'app', slice: { limit: 1, after: undefined } },
      })
      assert.deepEqual([items.map(({ version }) => version), next], [['1'], items[0]?.putNo])
      const rest = await store.listFileVersions({
        ownerNo,
        fileName: 'app',
        slice: { limit: 9, after: next },
      })
      assert.deepEqual([rest.items.map(({ version }) => version), rest.next], [['2'], undefined])
      assert.equal(
        (await store.listFiles({ ownerNo, slice: { limit: 9, after: undefined } })).items.length,
        1,
      )
    },
  )

  await t.test('versions and bytes have limits, and references take no bytes', async () => {
    const { ownerNo } = await seedOwner(store)
    await put(ownerNo, '1', 'a')
    await put(ownerNo, '2', 'b')
    assert.equal((await put(ownerNo, '3', 'c')).kind, 'too-many-bytes')
    assert.equal((await put(ownerNo, '3', 'c', { url: 'https://x' })).kind, 'put')
    assert.equal((await put(ownerNo, '4', 'd', { mostBytes: 0 })).kind, 'too-many')
    assert.equal(await store.countFileBytes({ ownerNo }), 20)
  })

  await t.test('content is needed until the last version with its hash is deleted', async () => {
    const { ownerNo } = await seedOwner(store)
    const { ownerNo: other } = await seedOwner(store)
    const sha256 = `shared-${ownerNo}`
    await put(ownerNo, '1', sha256)
    await put(other, '9', sha256)
    const needed = () => store.listKeptContents({ sha256s: [sha256, 'unknown'] })
    assert.deepEqual(await needed(), [sha256])
    assert.equal(await remove(ownerNo, '1'), 'deleted')
    assert.deepEqual(await needed(), [sha256])
    await remove(other, '9')
    assert.deepEqual(await needed(), [])
  })

  await t.test(
    'a version used by a job or an unfinished run cannot be deleted, by its version or as the newest',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      assert.equal((await putJob(ownerNo, ['app'])).lacksFile, 'app')
      await put(ownerNo, '1', 'a')
      await put(ownerNo, '2', 'b')
      await putJob(ownerNo, ['app', 'app@1'])
      for (const version of ['1', '2']) assert.equal(await remove(ownerNo, version), 'in-use')
      const { runId } = await createOne(store, trigger(['d1']))
      await putJob(ownerNo, [])
      const file = await store.getFile({ ownerNo, fileName: 'app', version: '2' })
      assert.deepEqual(file?.usedBy, { jobNames: [], scheduleNames: [], runIds: [runId] })
      assert.equal(await remove(ownerNo, '1'), 'in-use')
    },
  )
}
