// State changes in every store: of one execution, of a run, or because of a deleted device.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates } from '@jobcast/contract'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { executionEvents, isTerminal, nextState } from '../../src/domain/execution/execution.ts'
import type { Moved } from '../../src/domain/execution/ports/executions.ts'
import { unfinishedStates } from './execution-model.ts'
import {
  allExecutions,
  assertRunsAddUp,
  bringTo,
  createOne,
  devicePut,
  momentAt,
  moveOf,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const at = startedAt + 1000
const moment = momentAt(at)

export async function exerciseMoves(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  await chaosSubtest(
    t,
    'from every state every event moves or is refused as the table of states says',
    async () => {
      const { trigger, ownerNo } = await seedOwner(store)
      // A retry is what a failure comes to; nobody can ask for one.
      for (const state of execStates) {
        for (const event of executionEvents.filter((event) => event !== 'retry')) {
          const { firstExecutionId: jobExecutionId } = await createOne(store, trigger(['d1']))
          await bringTo(store, ownerNo, jobExecutionId, state)
          const before = await store.getExecution({ ownerNo, jobExecutionId })
          const outcome = await store.moveExecution(moveOf(ownerNo, jobExecutionId, event, moment))
          const next = nextState(state, event)
          const expected = next &&
            before && {
              ...before,
              execState: next,
              versionNumber: before.versionNumber + 1,
              startedAt: event === 'start' ? at : event === 'not-now' ? null : before.startedAt,
              finishedAt: isTerminal(next) ? at : null,
              notBefore: event === 'not-now' ? at : before.notBefore,
            }
          assert.deepEqual(
            outcome,
            expected
              ? { kind: 'moved', execution: expected, from: state }
              : { kind: 'refused', execState: state },
          )
          assert.deepEqual(await store.getExecution({ ownerNo, jobExecutionId }), expected ?? before)
        }
      }
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a retry cannot be requested', async () => {
    const { trigger, ownerNo } = await seedOwner(store)
    for (const state of unfinishedStates) {
      const { firstExecutionId } = await createOne(store, trigger(['d1']))
      await bringTo(store, ownerNo, firstExecutionId, state)
      const outcome = await store.moveExecution(moveOf(ownerNo, firstExecutionId, 'retry'))
      assert.deepEqual(outcome, { kind: 'refused', execState: state })
    }
  })

  await t.test('an execution that does not exist is unknown', async () => {
    const { ownerNo } = await seedOwner(store)
    assert.deepEqual(await store.moveExecution(moveOf(ownerNo, 2 ** 40, 'cancel')), {
      kind: 'unknown-execution',
    })
  })

  await t.test('of moves sent at once one moves and the others are refused', async () => {
    const { trigger, ownerNo } = await seedOwner(store)
    const { firstExecutionId } = await createOne(store, trigger(['d1']))
    const move = moveOf(ownerNo, firstExecutionId, 'cancel')
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.moveExecution(move)))
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'moved').length, 1)
    assert.equal((await store.getExecution({ ownerNo, jobExecutionId: firstExecutionId }))?.versionNumber, 2)
    await assertRunsAddUp(store, ownerNo)
  })

  await chaosSubtest(
    t,
    'a run larger than a batch is moved completely, in the order of its ids',
    async () => {
      const size = 2500
      const devices = Array.from({ length: size }, (_, index) => `d${index}`)
      const { trigger, ownerNo } = await seedOwner(store, { devices })
      const { runId, firstExecutionId } = await createOne(store, trigger(devices))
      const other = await createOne(store, trigger(['d0', 'd1']))
      await bringTo(store, ownerNo, firstExecutionId + 1, 'IN_PROGRESS')
      await bringTo(store, ownerNo, firstExecutionId + 1700, 'SUCCEEDED')
      await bringTo(store, ownerNo, firstExecutionId + 2499, 'CANCELING')
      const moved: Moved[] = []
      let from: number | undefined
      let calls = 0
      do {
        const move = { ownerNo, runId, event: 'cancel', moment, actor: 'key k1', from } as const
        const batch = await store.moveRun(move)
        assert.ok(batch)
        moved.push(...batch.moved)
        from = batch.next
        calls++
      } while (from !== undefined)
      assert.ok(calls > 1, 'all of it was moved at once, and nobody else got in between')
      const unmoved = [1700, 2499]
      assert.deepEqual(
        moved,
        devices.flatMap((deviceId, index) => {
          if (unmoved.includes(index)) return []
          const states = index === 1 ? ['IN_PROGRESS', 'CANCELING'] : ['PENDING', 'CANCELED']
          const [from, execState] = states
          return [{ ownerNo, deviceId, jobExecutionId: firstExecutionId + index, runId, from, execState }]
        }),
      )
      const { counts } = (await store.getRun({ ownerNo, runId })) ?? {}
      assert.deepEqual(
        [counts?.CANCELED, counts?.CANCELING, counts?.SUCCEEDED, counts?.PENDING],
        [size - 3, 2, 1, 0],
      )
      assert.equal((await store.getRun({ ownerNo, runId: other.runId }))?.counts.PENDING, 2)
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('a part of a run is moved up to its last execution', async () => {
    const devices = ['d1', 'd2', 'd3', 'd4']
    const { trigger, ownerNo } = await seedOwner(store, { devices })
    const { runId, firstExecutionId } = await createOne(store, trigger(devices))
    const move = { ownerNo, runId, event: 'cancel', moment, actor: 'key k1' } as const
    const part = await store.moveRun({ ...move, from: firstExecutionId + 1, to: firstExecutionId + 2 })
    assert.deepEqual([part?.moved.map(({ deviceId }) => deviceId), part?.next], [['d2', 'd3'], undefined])
    assert.equal((await store.moveRun({ ...move, from: undefined, to: 2 ** 40 }))?.moved.length, 2)
  })

  await t.test("a run that does not exist, or is another owner's, is unknown", async () => {
    const [mine, theirs] = [await seedOwner(store), await seedOwner(store)]
    const { runId } = await createOne(store, theirs.trigger(['d1']))
    const move = { ownerNo: mine.ownerNo, event: 'cancel', moment, actor: 'key k1', from: undefined } as const
    assert.equal(await store.moveRun({ ...move, runId }), undefined)
    assert.equal(await store.moveRun({ ...move, runId: 2 ** 40 }), undefined)
    assert.equal((await store.getRun({ ownerNo: theirs.ownerNo, runId }))?.counts.PENDING, 1)
  })

  await t.test(
    'deleting a device ends what it has not finished, returns it, and touches no other',
    async () => {
      const { trigger, ownerNo } = await seedOwner(store)
      const runs = []
      for (const state of execStates) {
        const run = await createOne(store, trigger(['d1', 'd2']))
        await bringTo(store, ownerNo, run.firstExecutionId, state)
        runs.push({ ...run, state })
      }
      const deleted = await store.deleteDevice({ ownerNo, deviceId: 'd1', moment, actor: 'key k1' })
      assert.deepEqual(
        deleted,
        runs
          .filter(({ state }) => unfinishedStates.includes(state))
          .map(({ runId, firstExecutionId: jobExecutionId, state: from }) => {
            return { ownerNo, deviceId: 'd1', jobExecutionId, runId, from, execState: 'CANCELED' }
          }),
      )
      const ended = (await allExecutions(store, ownerNo, { deviceId: 'd1' })).reverse()
      assert.deepEqual(
        ended.map((execution) => execution.execState),
        execStates.map((state) => (unfinishedStates.includes(state) ? 'CANCELED' : state)),
      )
      const others = await allExecutions(store, ownerNo, { deviceId: 'd2' })
      assert.ok(others.length === 9 && others.every((execution) => execution.execState === 'PENDING'))
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('deleting a device ends also what was sent in the same moment before it', async () => {
    const { trigger, ownerNo } = await seedOwner(store)
    const sent = [
      store.createExecutions([trigger(['d1', 'd2'])]),
      store.createExecutions([trigger(['d1'])]),
      store.deleteDevice({ ownerNo, deviceId: 'd1', moment, actor: 'key k1' }),
      store.createExecutions([trigger(['d1'])]),
    ] as const
    const [first, second, deleted, refused] = await Promise.all(sent)
    assert.ok(first[0]?.kind === 'created' && second[0]?.kind === 'created')
    assert.deepEqual(
      deleted?.map((moved) => moved.runId),
      [first[0].run.runId, second[0].run.runId],
    )
    assert.deepEqual(refused, [{ kind: 'unknown-device', deviceIds: ['d1'] }])
    const left = await allExecutions(store, ownerNo, { execStates: ['PENDING'] })
    assert.deepEqual(
      left.map((execution) => execution.deviceId),
      ['d2'],
    )
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a device put again after its deletion starts with nothing to do', async () => {
    const { trigger, ownerNo } = await seedOwner(store)
    await createOne(store, trigger(['d1']))
    await Promise.all([
      store.deleteDevice({ ownerNo, deviceId: 'd1', moment, actor: 'key k1' }),
      store.putDevices([devicePut(ownerNo, 'd1', 'again')]),
    ])
    const next = await createOne(store, trigger(['d1']))
    const listed = await allExecutions(store, ownerNo, { deviceId: 'd1' })
    assert.deepEqual(
      listed.map(({ execState, deviceName }) => [execState, deviceName]),
      [
        ['PENDING', 'again'],
        ['CANCELED', 'name of d1'],
      ],
    )
    const deleted = await store.deleteDevice({ ownerNo, deviceId: 'd1', moment, actor: 'key k1' })
    assert.deepEqual(
      deleted?.map((moved) => moved.runId),
      [next.runId],
    )
    assert.equal(await store.deleteDevice({ ownerNo, deviceId: 'd1', moment, actor: 'key k1' }), undefined)
    await assertRunsAddUp(store, ownerNo)
  })
}
