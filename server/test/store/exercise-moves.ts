// What every store does when an execution moves, alone or because its device is deleted.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import { type ExecutionEvent, isTerminal, nextState } from '../../src/domain/execution.ts'
import {
  allExecutions,
  assertRunsAddUp,
  createOne,
  devicePut,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const events: ExecutionEvent[] = ['cancel', 'force-cancel', 'remove-device']
const at = startedAt + 1000

export async function exerciseMoves(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('from every state every event moves or is refused as the table of states says', async () => {
    const { store, setState } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    for (const state of execStates) {
      for (const event of events) {
        const { firstExecutionId: jobExecutionId } = await createOne(store, trigger(['d1']))
        if (state !== 'PENDING') await setState(jobExecutionId, state)
        const before = await store.getExecution(ownerNo, jobExecutionId)
        const outcome = await store.moveExecution({ ownerNo, jobExecutionId, event, at })
        const next = nextState(state, event)
        const expected = next && {
          ...before,
          execState: next,
          versionNumber: 2,
          finishedAt: isTerminal(next) ? at : null,
        }
        assert.deepEqual(
          outcome,
          expected ? { kind: 'moved', execution: expected } : { kind: 'refused', execState: state },
        )
        assert.deepEqual(await store.getExecution(ownerNo, jobExecutionId), expected ?? before)
      }
    }
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('an execution that does not exist is unknown', async () => {
    const { store } = underTest
    const { ownerNo } = await seedOwner(store)
    const move = { ownerNo, jobExecutionId: 2 ** 40, event: 'cancel', at } as const
    assert.deepEqual(await store.moveExecution(move), { kind: 'unknown-execution' })
  })

  await t.test('of moves sent at once one moves and the others are refused', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const { firstExecutionId } = await createOne(store, trigger(['d1']))
    const move = { ownerNo, jobExecutionId: firstExecutionId, event: 'cancel', at } as const
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.moveExecution(move)))
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'moved').length, 1)
    assert.equal((await store.getExecution(ownerNo, firstExecutionId))?.versionNumber, 2)
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    'deleting a device ends what it has not finished, names the runs, touches no other',
    async () => {
      const { store, setState } = underTest
      const { trigger, ownerNo } = await seedOwner(store)
      const runs = []
      for (let count = 0; count < 9; count++) runs.push(await createOne(store, trigger(['d1', 'd2'])))
      for (const [index, state] of execStates.entries()) {
        if (state !== 'PENDING') await setState(runs[index]?.firstExecutionId ?? 0, state)
      }
      const deleted = await store.deleteDevice(ownerNo, 'd1', at)
      const unfinished: ExecState[] = ['PENDING', 'IN_PROGRESS', 'CANCELING']
      assert.deepEqual(
        deleted?.runIds.toSorted((a, b) => a - b),
        runs
          .filter((_, index) => unfinished.includes(execStates[index] as ExecState))
          .map((run) => run.runId),
      )
      const ended = (await allExecutions(store, ownerNo, { deviceId: 'd1' })).reverse()
      assert.deepEqual(
        ended.map((execution) => execution.execState),
        execStates.map((state) => (unfinished.includes(state) ? 'CANCELED' : state)),
      )
      const others = await allExecutions(store, ownerNo, { deviceId: 'd2' })
      assert.ok(others.length === 9 && others.every((execution) => execution.execState === 'PENDING'))
      await assertRunsAddUp(store, ownerNo)
    },
  )

  await t.test('deleting a device ends also what was sent in the same moment before it', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    const sent = [
      store.createExecutions([trigger(['d1', 'd2'])]),
      store.createExecutions([trigger(['d1'])]),
      store.deleteDevice(ownerNo, 'd1', at),
      store.createExecutions([trigger(['d1'])]),
    ] as const
    const [first, second, deleted, refused] = await Promise.all(sent)
    assert.ok(first[0]?.kind === 'created' && second[0]?.kind === 'created')
    assert.deepEqual(deleted, { runIds: [first[0].run.runId, second[0].run.runId] })
    assert.deepEqual(refused, [{ kind: 'unknown-device', deviceIds: ['d1'] }])
    const left = await allExecutions(store, ownerNo, { execState: 'PENDING' })
    assert.deepEqual(
      left.map((execution) => execution.deviceId),
      ['d2'],
    )
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test('a device put again after its deletion starts with nothing to do', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store)
    await createOne(store, trigger(['d1']))
    await Promise.all([
      store.deleteDevice(ownerNo, 'd1', at),
      store.putDevices([devicePut(ownerNo, 'd1', 'anew')]),
    ])
    const next = await createOne(store, trigger(['d1']))
    const listed = await allExecutions(store, ownerNo, { deviceId: 'd1' })
    assert.deepEqual(
      listed.map(({ execState, deviceName }) => [execState, deviceName]),
      [
        ['PENDING', 'anew'],
        ['CANCELED', 'name of d1'],
      ],
    )
    assert.deepEqual(await store.deleteDevice(ownerNo, 'd1', at), { runIds: [next.runId] })
    assert.equal(await store.deleteDevice(ownerNo, 'd1', at), undefined)
  })
}
