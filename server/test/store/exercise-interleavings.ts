// Concurrent steps in any order must leave every store in a consistent state: its responses, its data and its further behavior
// match.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { LaunchedRun } from '../../src/domain/trigger/launched-run.ts'
import { enrolling, newEnrollment } from './enrolling.ts'
import { unfinishedStates } from './execution-model.ts'
import {
  allExecutions,
  assertRunsAddUp,
  devicePut,
  emptyContent,
  momentAt,
  moveOf,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const jobs = ['j1', 'j2']
const devices = ['d1', 'd2', 'd3']

/** Of the steps some are refused by the database itself. */
const failingInstant = startedAt + 13
const at = fc.oneof({ arbitrary: fc.constant(startedAt), weight: 5 }, fc.constant(failingInstant))

const step = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('turn' as const) }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('trigger' as const),
      triggers: fc.array(
        fc.record({
          launchedAt: at,
          jobName: fc.constantFrom(...jobs),
          deviceIds: fc.shuffledSubarray(devices, { minLength: 1 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('put-devices' as const),
      puts: fc.array(
        fc.record({
          deviceId: fc.constantFrom(...devices),
          deviceName: fc.constantFrom('a', 'b', 'c'),
          at,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    weight: 3,
  },
  fc.record({ kind: fc.constant('delete-device' as const), deviceId: fc.constantFrom(...devices), at }),
  {
    arbitrary: fc.record({
      kind: fc.constant('enroll' as const),
      deviceId: fc.constantFrom(...devices),
      deviceName: fc.constantFrom('a', 'b', 'c'),
      at,
    }),
    weight: 2,
  },
  fc.record({ kind: fc.constant('put-job' as const), jobName: fc.constantFrom(...jobs), at }),
  fc.record({ kind: fc.constant('delete-job' as const), jobName: fc.constantFrom(...jobs), at }),
  fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(20) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export async function exerciseInterleavings(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test('steps sent without waiting leave answers, data and memory in agreement', async () => {
    const { store } = underTest
    await underTest.failAt(failingInstant)
    const owners: Seed[] = []
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
        const owner = await seedOwner(store, { jobs, devices })
        owners.push(owner)
        const launched = await sendAll(store, owner, steps)
        await assertAnsweredIsStored(store, owner.ownerNo, launched)
        await assertNobodyIsLeftBehind(store, owner.ownerNo)
        await assertRunsAddUp(store, owner.ownerNo)
        await assertKnowsWhatIsStored(store, owner)
      }),
      randomInputs({ test: 4, chaos: 120 }),
    )
    const again = await underTest.reopen()
    for (const owner of owners.slice(-20)) await assertKnowsWhatIsStored(again, owner)
  })

  await t.test('a list read while its executions move misses none and shows none twice', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    const triggers = Array.from({ length: 100 }, () => trigger(['d1']))
    const outcomes = await store.createExecutions(triggers)
    const ids = outcomes.flatMap((outcome) => ('run' in outcome ? [outcome.run.firstExecutionId] : []))
    const moves = ids.map((jobExecutionId) => store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel')))
    const lists = ids.map(() => allExecutions(store, ownerNo, { deviceId: 'd1' }))
    await Promise.all(moves)
    for (const list of await Promise.all(lists)) {
      assert.deepEqual(
        list.map((execution) => execution.jobExecutionId),
        ids.toReversed(),
      )
    }
  })

  await t.test('a list read while its device is deleted misses nothing', async () => {
    const { store } = underTest
    const { ownerNo, trigger } = await seedOwner(store)
    await store.createExecutions(Array.from({ length: 50 }, () => trigger(['d1'])))
    const deleted = store.deleteDevice({
      ownerNo,
      deviceId: 'd1',
      moment: momentAt(startedAt),
      actor: 'key k1',
    })
    const lists = Array.from({ length: 5 }, () => allExecutions(store, ownerNo, { deviceId: 'd1' }))
    await deleted
    for (const list of await Promise.all(lists)) assert.equal(list.length, 50)
  })
}

/** Gives what was answered as created. */
async function sendAll(store: Store, { ownerNo, trigger }: Seed, steps: Step[]): Promise<LaunchedRun[]> {
  const launched: LaunchedRun[] = []
  const { enrollmentId } = await store.createEnrollment(newEnrollment(ownerNo, { maxUses: 100 }))
  const send = async (each: Step) => {
    switch (each.kind) {
      case 'trigger': {
        const triggers = each.triggers.map(({ deviceIds, ...more }) => trigger(deviceIds, more))
        for (const outcome of await store.createExecutions(triggers)) {
          if (outcome.kind === 'created') launched.push(outcome.run)
        }
        return
      }
      case 'put-devices':
        return store.putDevices(
          each.puts.map(({ deviceId, deviceName, at }) => {
            return { ...devicePut(ownerNo, deviceId, deviceName), at }
          }),
        )
      case 'delete-device':
        return store.deleteDevice({
          ownerNo,
          deviceId: each.deviceId,
          moment: momentAt(each.at),
          actor: 'key k1',
        })
      case 'enroll': {
        const { deviceId, deviceName, at } = each
        return store.enrollDevice({ ...enrolling({ enrollmentId }, deviceId, { at }), deviceName })
      }
      case 'put-job':
        return store.putJob({ ownerNo, jobName: each.jobName, content: emptyContent, at: each.at })
      case 'delete-job':
        return store.deleteJob({ ownerNo, jobName: each.jobName, at: each.at })
      case 'cancel': {
        const run = launched[each.pick % (launched.length || 1)]
        return run && store.moveExecution(moveOf(ownerNo, run.firstExecutionId, 'cancel'))
      }
      case 'turn':
        return
    }
  }
  const sent: Promise<unknown>[] = []
  for (const each of steps) {
    if (each.kind === 'turn') await nextTurn()
    else sent.push(send(each).catch((error) => assert.match(String(error), /refused/)))
  }
  await Promise.all(sent)
  return launched
}

/** Every run answered as created is there, with the devices and the names of its answer. */
async function assertAnsweredIsStored(store: Store, ownerNo: number, launched: LaunchedRun[]): Promise<void> {
  const stored = (await allExecutions(store, ownerNo)).reverse()
  const expected = launched.flatMap(({ runId, firstExecutionId, jobName, devices }) =>
    devices.map(({ deviceId, deviceName }, index) => {
      return { runId, jobExecutionId: firstExecutionId + index, jobName, deviceId, deviceName }
    }),
  )
  assert.deepEqual(
    stored.map(({ runId, jobExecutionId, jobName, deviceId, deviceName }) => {
      return { runId, jobExecutionId, jobName, deviceId, deviceName }
    }),
    expected.sort((a, b) => a.jobExecutionId - b.jobExecutionId),
  )
}

/** Nothing waits for a device that is gone, and a device's list is its part of the whole list. */
async function assertNobodyIsLeftBehind(store: Store, ownerNo: number): Promise<void> {
  const all = await allExecutions(store, ownerNo)
  for (const deviceId of devices) {
    const ofDevice = all.filter((execution) => execution.deviceId === deviceId)
    assert.deepEqual(await allExecutions(store, ownerNo, { deviceId }), ofDevice)
    const isThere = (await store.getDevice({ ownerNo, deviceId })) !== undefined
    const waits = ofDevice.some((execution) => unfinishedStates.includes(execution.execState))
    assert.ok(isThere || !waits, `executions wait for ${deviceId}, which is deleted`)
  }
}

/** A trigger finds exactly the jobs and devices that can be read. */
async function assertKnowsWhatIsStored(store: Store, { ownerNo, trigger }: Seed): Promise<void> {
  for (const jobName of jobs) {
    for (const deviceId of devices) {
      const [outcome] = await store.createExecutions([trigger([deviceId], { jobName })])
      const job = await store.getJob({ ownerNo, jobName })
      const device = await store.getDevice({ ownerNo, deviceId })
      assert.equal(outcome?.kind, !job ? 'unknown-job' : device ? 'created' : 'unknown-device')
      if (outcome?.kind === 'created') {
        assert.equal(outcome.run.devices.at(0)?.deviceName, device?.deviceName)
      }
    }
  }
}
