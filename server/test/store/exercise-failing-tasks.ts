// Failures of background tasks are stored for all nodes.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ApiError } from '@jobcast/contract'
import type { TaskKey } from '../../src/domain/common/ports/failing-tasks.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { failingForMs, readFailing } from '../../src/domain/common/read-failing.ts'
import { FailingTasks } from '../../src/state/failing-tasks.ts'
import { momentAt, type StoreUnderTest, startedAt } from './store-under-test.ts'

let tasks = 0
const newTask = (): TaskKey => ({ kind: 'rollout', taskNo: ++tasks })

function openTasks(store: Store) {
  const clock = { now: startedAt }
  return {
    clock,
    failing: new FailingTasks({ store, now: () => clock.now }),
    found: async ({ kind, taskNo }: TaskKey) =>
      (await readFailing({ store, moment: () => momentAt(clock.now) }, kind, [taskNo, 1_000_000])).get(
        taskNo,
      ),
  }
}

const refused = Object.assign(new Error('invalid input for host 10.0.0.1'), { code: '22P02' })

export async function exerciseFailingTasks(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    'one failure is not recorded, two in a row are, and a success removes the record',
    async () => {
      const { failing, found, clock } = openTasks(underTest.store)
      const task = newTask()
      assert.equal(failing.failed(task, refused), true)
      await failing.quiet()
      assert.equal(await found(task), undefined)
      clock.now += 500
      failing.failed(task, refused)
      await failing.quiet()
      const message = 'internal error (22P02); the log of the server has the cause'
      assert.deepEqual(await found(task), { since: startedAt, times: 2, message })
      assert.deepEqual(await openTasks(await underTest.reopen()).found(task), {
        ...{ since: startedAt, times: 2, message },
      })
    },
  )

  await t.test('it is recorded again every ten seconds, and logged less and less often', async () => {
    const { failing, found, clock } = openTasks(underTest.store)
    const task = newTask()
    const logged: number[] = []
    for (let times = 1; times <= 40; times++) {
      const error = new ApiError('J-503', { detail: `number ${times}` })
      if (failing.failed(task, error)) logged.push(times)
      clock.now += 500
    }
    await failing.quiet()
    assert.deepEqual(logged, [1, 2, 4, 8, 16, 32])
    assert.deepEqual(await found(task), { since: startedAt, times: 22, message: 'J-503: number 22' })
    assert.deepEqual(failing.counts(), [
      { kind: 'rollout', count: 1 },
      { kind: 'schedule', count: 0 },
      { kind: 'timers', count: 0 },
    ])
    failing.succeeded(task)
    await failing.quiet()
    assert.equal(await found(task), undefined)
    assert.equal(failing.counts()[0]?.count, 0)
  })

  await t.test('a failure without a try for some minutes is no longer shown', async () => {
    const { failing, found, clock } = openTasks(underTest.store)
    const task = newTask()
    for (const _ of [1, 2]) failing.failed(task, refused)
    await failing.quiet()
    clock.now += failingForMs - 1
    assert.equal((await found(task))?.times, 2)
    clock.now += 2
    assert.equal(await found(task), undefined)
    assert.equal(failing.counts()[0]?.count, 0)
  })

  await t.test('a record that cannot be written does not block the task', async () => {
    const { store } = underTest
    const recordFailing = () => Promise.reject(new Error('the database is gone'))
    const failing = new FailingTasks({ store: { ...store, recordFailing }, now: () => startedAt })
    const task = newTask()
    for (const _ of [1, 2, 3]) failing.failed(task, refused)
    await failing.quiet()
    failing.succeeded(task)
    await failing.quiet()
    assert.equal(failing.counts()[0]?.count, 0)
  })
}
