// What every store keeps of jobs and of runs by job.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StoredJobContent } from '../../src/domain/ports/jobs.ts'
import type { Slice } from '../../src/domain/ports/slices.ts'
import {
  createOne,
  emptyContent,
  readAll,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const content: StoredJobContent = {
  description: 'Ünïcode\nand lines',
  document: { handler: 'restart', deep: [{ n: 1.5, t: null, f: false }], '': '' },
  expireAfterSeconds: 1,
  timeoutSeconds: 2,
  deadlineSeconds: 31_536_000,
  retry: { max: 3, backoffSeconds: 10, on: ['TIMED_OUT', 'FAILED'] },
}

export async function exerciseJobs(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  await t.test(
    'a job is made by its first put, changed by another content, left alone by the same',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: [] })
      const put = { ownerNo, jobName: 'job', content, at: startedAt }
      const made = { jobName: 'job', ...content, createdAt: startedAt, updatedAt: startedAt }
      assert.deepEqual(await store.putJob(put), { created: true, value: made })
      assert.deepEqual(await store.putJob({ ...put, at: startedAt + 1 }), { created: false, value: made })
      const changed = { ...made, ...emptyContent, updatedAt: startedAt + 2 }
      assert.deepEqual(await store.putJob({ ...put, content: emptyContent, at: startedAt + 2 }), {
        created: false,
        value: changed,
      })
      assert.deepEqual(await store.getJob({ ownerNo, jobName: 'job' }), changed)
      assert.equal(await store.getJob({ ownerNo, jobName: 'Job' }), undefined)
    },
  )

  await t.test('a deleted job is gone for good, one put again is new; its runs go on', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const run = await createOne(store, trigger(['d1']))
    assert.equal(await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt }), true)
    assert.equal(await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt }), false)
    assert.equal(await store.getJob({ ownerNo, jobName: 'restart' }), undefined)
    assert.equal(
      (await store.getExecution({ ownerNo, jobExecutionId: run.firstExecutionId }))?.execState,
      'PENDING',
    )
    assert.equal((await store.getRun({ ownerNo, runId: run.runId }))?.jobName, 'restart')
    const again = await store.putJob({
      ownerNo,
      jobName: 'restart',
      content: emptyContent,
      at: startedAt + 3,
    })
    assert.equal(again.created, true)
    assert.equal(again.value.createdAt, startedAt + 3)
  })

  await t.test('jobs are listed in the order of their names as bytes, without the deleted', async () => {
    const names = ['b', 'a', 'Z', 'é', 'aa', '10', '😀', '\uffee', 'gone']
    const { ownerNo } = await seedOwner(store, { jobs: names })
    await seedOwner(store, { jobs: ['foreign'] })
    await store.deleteJob({ ownerNo, jobName: 'gone', at: startedAt })
    const listed = await readAll((slice: Slice<string>) => store.listJobs({ ownerNo, slice }), 3)
    assert.deepEqual(
      listed.map((job) => job.jobName),
      names.slice(0, -1).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
  })

  await t.test('runs are listed newest first, by job or all, and never those of others', async () => {
    const mine = await seedOwner(store, { jobs: ['one', 'two'] })
    const theirs = await seedOwner(store, { jobs: ['one', 'two'] })
    const launched: { runId: number; jobName: string }[] = []
    for (const jobName of ['one', 'two', 'two', 'one', 'two']) {
      launched.unshift(await createOne(store, mine.trigger(['d1'], { jobName })))
      await createOne(store, theirs.trigger(['d1'], { jobName }))
    }
    for (const jobName of ['one', 'two', 'three', undefined]) {
      for (const limit of [1, 2, 9]) {
        const filter = jobName === undefined ? {} : { jobName }
        const read = (slice: Slice<number>) => store.listRuns({ ownerNo: mine.ownerNo, filter, slice })
        assert.deepEqual(
          (await readAll(read, limit)).map((run) => run.runId),
          launched.filter((run) => (jobName ?? run.jobName) === run.jobName).map((run) => run.runId),
        )
      }
    }
  })
}
