// Jobs, and runs by job, in every store.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { parseSelector } from '@jobcast/contract/selector'
import type { Caller } from '../../src/domain/access/caller.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import type { Slice } from '../../src/domain/common/ports/slices.ts'
import { restoreJobVersion } from '../../src/domain/job/job-versions.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { toRunJob } from '../../src/domain/trigger/launch-run.ts'
import type { TriggerPlan } from '../../src/domain/trigger/trigger.ts'
import { QuotaCounts } from '../../src/state/quota-counts.ts'
import { SecretBox } from '../../src/state/secret-box.ts'
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
    'a version of a job that is deleted meanwhile is not restored: J-301, or J-312 with If-Match',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: ['gone'] })
      const put = { ownerNo, jobName: 'gone', at: startedAt }
      await store.putJob({ ...put, content })
      const deps = {
        ...{
          quotas: noQuotas,
          quotaCounts: new QuotaCounts({ store, quotas: noQuotas, now: () => 0, elapsed: () => 0 }),
        },
        ...{ secretBox: new SecretBox([]), now: () => startedAt, contents: {} },
        store: {
          ...store,
          async getJobVersion(version: Parameters<typeof store.getJobVersion>[0]) {
            const found = await store.getJobVersion(version)
            await store.deleteJob(put)
            return found
          },
        },
      }
      const caller: Caller = { ownerNo, ownerId: 'ow_1', keyId: 'k1', scopes: ['MANAGE'] }
      for (const [ifMatch, code] of [
        [{}, 'J-301'],
        [{ expected: ['2'] }, 'J-312'],
      ] as const) {
        await store.putJob({ ...put, content })
        await assert.rejects(restoreJobVersion(deps, caller, { jobName: 'gone', version: 1 }, ifMatch), {
          code,
        })
        assert.equal(await store.getJob(put), undefined)
      }
    },
  )

  await t.test(
    'a job is created by its first put, changed by other content, and unchanged by the same',
    async () => {
      const { ownerNo } = await seedOwner(store, { jobs: [] })
      const put = { ownerNo, jobName: 'job', content, at: startedAt }
      const instants = { createdAt: startedAt, updatedAt: startedAt }
      const made = { jobName: 'job', version: 1, ...content, ...instants, updatedBy: null }
      assert.deepEqual(await store.putJob(put), { created: true, value: made })
      assert.deepEqual(await store.putJob({ ...put, at: startedAt + 1 }), { created: false, value: made })
      const changed = { ...made, ...emptyContent, version: 2, updatedAt: startedAt + 2, updatedBy: 'key:k' }
      const another = { ...put, content: emptyContent, at: startedAt + 2, by: 'key:k' }
      assert.deepEqual(await store.putJob(another), {
        created: false,
        value: changed,
      })
      assert.deepEqual(await store.getJob({ ownerNo, jobName: 'job' }), changed)
      assert.equal(await store.getJob({ ownerNo, jobName: 'Job' }), undefined)
    },
  )

  await t.test(
    'a deleted job does not come back, a put again creates a new one; its runs continue',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const run = await createOne(store, trigger(['d1']))
      const job = { ownerNo, jobName: 'restart', at: startedAt }
      const users = { scheduleNames: [], runIds: [run.runId] }
      assert.deepEqual(await store.findJobUsers(job), users)
      assert.deepEqual(await store.deleteJob({ ...job, unlessUsed: true }), users)
      assert.equal((await store.getJob(job))?.jobName, 'restart')
      assert.equal(await store.deleteJob(job), 'deleted')
      assert.equal(await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt }), 'unknown')
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
      // Nobody who knows version 1 can take it for this one.
      assert.equal(again.value.version, 2)
    },
  )

  await t.test('each change creates an immutable version', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [] })
    const other = await seedOwner(store, { jobs: ['job'] })
    for (const [index, description] of ['one', 'two', 'two', 'three'].entries()) {
      const put = { ownerNo, jobName: 'job', content: { ...content, description }, at: startedAt + index }
      await store.putJob({ ...put, by: `key:${index}` })
    }
    const read = (slice: Slice<number>) => store.listJobVersions({ ownerNo, jobName: 'job', slice })
    const versions = await readAll(read, 2)
    assert.deepEqual(
      versions.map(({ version, description, createdAt, createdBy, isCurrent }) => {
        return [version, description, createdAt - startedAt, createdBy, isCurrent]
      }),
      [
        [3, 'three', 3, 'key:3', true],
        [2, 'two', 1, 'key:1', false],
        [1, 'one', 0, 'key:0', false],
      ],
    )
    assert.deepEqual(await store.getJobVersion({ ownerNo, jobName: 'job', version: 2 }), versions[1])
    assert.equal(await store.getJobVersion({ ownerNo, jobName: 'job', version: 4 }), undefined)
    const foreign = { ownerNo: other.ownerNo, jobName: 'job', version: 2 }
    assert.equal(await store.getJobVersion(foreign), undefined)
    const { document } = await store.getDocument({ jobVersion: versions[2]?.versionNo ?? 0 })
    assert.deepEqual(JSON.parse(document), content.document)
    await store.deleteJob({ ownerNo, jobName: 'job', at: startedAt })
    assert.equal(await store.getJobVersion({ ownerNo, jobName: 'job', version: 2 }), undefined)
    assert.deepEqual(await readAll(read, 2), [])
  })

  await t.test('a job is deleted only as it is expected, and can be triggered if it was not', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const deletion = { ownerNo, jobName: 'restart', at: startedAt }
    assert.equal(await store.deleteJob({ ...deletion, expected: ['2'] }), 'changed')
    await createOne(store, trigger(['d1']))
    assert.equal(await store.deleteJob({ ...deletion, jobName: 'none', expected: ['1'] }), 'unknown')
    assert.equal(await store.deleteJob({ ...deletion, expected: ['1'] }), 'deleted')
  })

  await t.test('a run of an earlier version, which it names', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const before = await store.getJobVersion({ ownerNo, jobName: 'restart', version: 1 })
    assert.ok(before)
    await store.putJob({ ownerNo, jobName: 'restart', content, at: startedAt })
    const pinned = await createOne(store, { ...trigger(['d1']), pinned: toRunJob(before, before) })
    const current = await createOne(store, trigger(['d1']))
    assert.equal(pinned.jobVersion, before.versionNo)
    const versionOf = async ({ runId }: { runId: number }) =>
      (await store.getRun({ ownerNo, runId }))?.version
    assert.deepEqual([await versionOf(pinned), await versionOf(current)], [1, 2])
    const filter = { jobName: 'restart', version: 1 }
    const { items } = await store.listRuns({ ownerNo, filter, slice: { after: undefined, limit: 9 } })
    assert.deepEqual(
      items.map(({ runId }) => runId),
      [pinned.runId],
    )
    await store.deleteJob({ ownerNo, jobName: 'restart', at: startedAt })
    const [refused] = await store.createExecutions([{ ...trigger(['d1']), pinned: toRunJob(before, before) }])
    assert.equal(refused?.kind, 'unknown-job')
  })

  await t.test(
    'a run of an earlier version needs the approval of the current one, large or not',
    async () => {
      const { ownerNo, trigger } = await seedOwner(store)
      const key = { ownerNo, jobName: 'restart' }
      const before = await store.getJobVersion({ ...key, version: 1 })
      assert.ok(before)
      await store.putJob({ ...key, content: { ...content, approval: true }, at: startedAt })
      const current = await store.getJobVersion({ ...key, version: 2 })
      const slice = { after: undefined, limit: 1 }
      const { items } = await store.selectDevices({ ownerNo, where: parseSelector('all'), slice })
      const deviceNos = Int32Array.from(items, ({ deviceNo }) => deviceNo)
      const asked = { ...trigger(['d1']), pinned: toRunJob(before, before) }
      const { deviceIds: _, ...large } = asked
      type More = { plan?: TriggerPlan }
      for (const create of [
        async (more: More) => (await store.createExecutions([{ ...asked, ...more }]))[0],
        (more: More) => store.createLargeRun({ ...large, deviceNos, ...more }),
      ]) {
        const needed = { kind: 'needs-plan', jobVersion: current?.versionNo, approval: true }
        assert.deepEqual(await create({}), needed)
        const plan = { rollout: {}, approval: false, sizes: [1] }
        assert.deepEqual(await create({ plan: { ...plan, jobVersion: before.versionNo } }), needed)
        const made = await create({ plan: { ...plan, jobVersion: null } })
        assert.ok(made?.kind === 'created')
        const found = await store.getRollout({ ownerNo, runId: made.run.runId })
        assert.equal(found?.rollout.status.state, 'AWAITING_APPROVAL')
      }
    },
  )

  await t.test('approvals that a job asks for are kept, also by one that was deleted', async () => {
    const { ownerNo } = await seedOwner(store, { jobs: [] })
    const key = { ownerNo, jobName: 'careful', at: startedAt }
    const gates = { waves: [{ size: 1 }, { size: '100%' }], next: { action: 'APPROVAL' as const } }
    const put = (more: Partial<typeof content>, keepsApproval?: true) =>
      store.putJob({ ...key, content: { ...content, ...more }, ...(keepsApproval && { keepsApproval }) })
    await put({ approval: { required: 2 } })
    const isRefused = async (more: Partial<typeof content>) => {
      const { weakensApproval, isRefused } = await put(more, true)
      assert.equal(weakensApproval, isRefused)
      return isRefused ?? false
    }
    assert.deepEqual([await isRefused({}), await isRefused({ approval: true })], [true, true])
    assert.equal(await isRefused({ approval: { required: 2 }, description: 'the same' }), false)
    assert.equal(await store.deleteJob(key), 'deleted')
    assert.deepEqual([await isRefused({}), await store.getJob(key)], [true, undefined])
    assert.equal(await isRefused({ approval: { required: 3 } }), false)
    await put({ rollout: gates })
    const weaker = { ...gates, waves: [{ size: '100%' }, { size: '100%' }] }
    for (const more of [{}, { approval: true }, { rollout: weaker }, { approval: true, rollout: weaker }])
      assert.equal(await isRefused(more), true, JSON.stringify(more))
    assert.equal(await isRefused({ approval: true, rollout: gates }), false)
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
