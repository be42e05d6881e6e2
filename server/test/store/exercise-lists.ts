// Lists in every store: each filter alone and with every other, slice by slice, compared with a simple model.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type ExecState, execStates } from '@jobcast/contract'
import { chaosSubtest } from '@jobcast/testkit/chaos-test'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import type { ExecutionFilter } from '../../src/domain/execution/ports/executions.ts'
import { ExecutionModel } from './execution-model.ts'
import {
  allExecutions,
  assertRunsAddUp,
  bringTo,
  createOne,
  devicePut,
  momentAt,
  moveOf,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const jobs = ['restart', 'update']
const devices = ['d1', 'd2', 'd3', 'd4']

const step = fc.oneof(
  fc.record({
    kind: fc.constant('trigger' as const),
    jobName: fc.constantFrom(...jobs),
    deviceIds: fc.shuffledSubarray(devices, { minLength: 1 }),
    at: fc.nat(5),
  }),
  fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(), force: fc.boolean() }),
  fc.record({ kind: fc.constant('set' as const), pick: fc.nat(), state: fc.constantFrom(...execStates) }),
  fc.record({ kind: fc.constant('delete' as const), deviceId: fc.constantFrom(...devices) }),
  fc.record({
    kind: fc.constant('put' as const),
    deviceId: fc.constantFrom(...devices),
    deviceName: fc.constantFrom('one', 'other'),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export async function exerciseLists(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await chaosSubtest(
    t,
    'executions are listed by every combination of filters as a plain list would be',
    async () => {
      const { store } = underTest
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), fc.nat(), async (steps, seed) => {
          const owner = await seedOwner(store, { jobs, devices })
          const foreign = await seedOwner(store, { jobs, devices })
          const model = new ExecutionModel()
          const known = new Set(devices)
          for (const each of steps) {
            await take(underTest, owner, model, known, each)
            if (each.kind === 'trigger') await createOne(store, foreign.trigger(each.deviceIds))
          }
          const random = seededRandom(seed)
          for (const filter of filters(random, model)) {
            const limit = 1 + random.below(9)
            assert.deepEqual(
              await allExecutions(store, owner.ownerNo, filter, limit),
              model.list(filter),
              `filter ${JSON.stringify(filter)} limit ${limit}`,
            )
          }
          await assertRunsAddUp(store, owner.ownerNo)
        }),
        randomInputs({ test: 1, chaos: 60 }),
      )
    },
  )

  await chaosSubtest(
    t,
    'a list is correct while executions are added and changed between its slices',
    async () => {
      const { store } = underTest
      const { trigger, ownerNo } = await seedOwner(store, { jobs, devices })
      for (let run = 0; run < 10; run++) await createOne(store, trigger(devices))
      for (const filter of [{}, { deviceId: 'd2' }, { jobName: 'restart' }]) {
        const before = await allExecutions(store, ownerNo, filter)
        const seen: number[] = []
        let after: number | undefined
        do {
          const { items, next } = await store.listExecutions({ ownerNo, filter, slice: { after, limit: 3 } })
          seen.push(...items.map((execution) => execution.jobExecutionId))
          const { firstExecutionId } = await createOne(store, trigger(devices))
          await store.moveExecution(moveOf(ownerNo, firstExecutionId + 1, 'cancel'))
          for (const { jobExecutionId } of items) {
            await store.moveExecution(moveOf(ownerNo, jobExecutionId, 'cancel'))
          }
          after = next
        } while (after !== undefined)
        assert.deepEqual(
          seen,
          before.map((execution) => execution.jobExecutionId),
        )
      }
    },
  )

  await chaosSubtest(t, 'a device with thousands pending is listed without gaps or duplicates', async () => {
    const { store } = underTest
    const { trigger, ownerNo } = await seedOwner(store, { devices })
    const outcomes = await store.createExecutions(Array.from({ length: 6000 }, () => trigger(['d1', 'd2'])))
    const oldest = outcomes[0]
    assert.ok(oldest?.kind === 'created')
    const listed = await allExecutions(store, ownerNo, { deviceId: 'd2' })
    assert.equal(new Set(listed.map((execution) => execution.jobExecutionId)).size, 6000)
    assert.equal(listed.length, 6000)
    const { runId } = oldest.run
    const found = await allExecutions(store, ownerNo, { deviceId: 'd2', runId })
    assert.deepEqual(
      found.map((execution) => execution.jobExecutionId),
      [oldest.run.firstExecutionId + 1],
    )
  })
}

async function take(
  { store }: StoreUnderTest,
  { ownerNo, trigger }: Seed,
  model: ExecutionModel,
  known: Set<string>,
  each: Step,
): Promise<void> {
  const at = startedAt + 100 + model.executions.length
  switch (each.kind) {
    case 'trigger': {
      const launched = { jobName: each.jobName, launchedAt: startedAt + each.at }
      const [outcome] = await store.createExecutions([trigger(each.deviceIds, launched)])
      const unknown = each.deviceIds.filter((deviceId) => !known.has(deviceId))
      if (unknown.length > 0) assert.deepEqual(outcome, { kind: 'unknown-device', deviceIds: unknown })
      else if (outcome?.kind === 'created') model.launch(outcome.run)
      else assert.fail(`not created but ${outcome?.kind}`)
      return
    }
    case 'cancel': {
      const execution = model.executions[each.pick % (model.executions.length || 1)]
      if (execution === undefined) return
      const { jobExecutionId } = execution
      const event = each.force ? 'force-cancel' : 'cancel'
      const before = execution.execState
      const moved = model.move(execution, event, at)
      assert.deepEqual(
        await store.moveExecution(moveOf(ownerNo, jobExecutionId, event, momentAt(at))),
        moved ? { kind: 'moved', execution, from: before } : { kind: 'refused', execState: before },
      )
      return
    }
    case 'set': {
      const open = model.list({}).filter(({ execState }) => execState === 'PENDING')
      const execution = open[each.pick % (open.length || 1)]
      if (execution === undefined) return
      await bringTo(store, ownerNo, execution.jobExecutionId, each.state, momentAt(at))
      model.bringTo(execution, each.state, at)
      return
    }
    case 'delete': {
      const deleted = await store.deleteDevice({
        ownerNo,
        deviceId: each.deviceId,
        moment: momentAt(at),
        actor: 'key k1',
      })
      const moved = model.removeDevice(ownerNo, each.deviceId, at)
      assert.deepEqual(deleted, known.delete(each.deviceId) ? moved : undefined)
      return
    }
    case 'put':
      await store.putDevices([devicePut(ownerNo, each.deviceId, each.deviceName)])
      known.add(each.deviceId)
  }
}

/** Every combination of filters, with values that may match and some that cannot. */
function* filters(random: Random, model: ExecutionModel): Generator<ExecutionFilter> {
  const runIds = [...new Set(model.executions.map((execution) => execution.runId)), 2 ** 40]
  for (let index = 0; index < 128; index++) {
    const has = (bit: number) => (index & (1 << bit)) !== 0
    yield {
      ...(has(0) && { jobName: random.pick([...jobs, 'unknown']) }),
      ...(has(1) && { deviceId: random.pick([...devices, 'unknown']) }),
      ...(has(2) && { execStates: someStates(random) }),
      ...(has(3) && { runId: random.pick(runIds) }),
      ...(has(4) && { launchedAfter: startedAt + random.below(5) }),
      ...(has(5) && { launchedBefore: startedAt + 2 + random.below(5) }),
      ...(has(6) && ended(random)),
    }
  }
}

/** Executions end from 100 ms on, later the more there are. */
function ended(random: Random): ExecutionFilter {
  const finishedAfter = startedAt + 100 + random.below(20)
  const finishedBefore = finishedAfter + 1 + random.below(20)
  return random.pick([{ finishedAfter }, { finishedBefore }, { finishedAfter, finishedBefore }])
}

function someStates(random: Random): ExecState[] {
  const first = random.pick<ExecState>(execStates)
  return [...new Set([first, ...execStates.filter(() => random.below(4) === 0)])]
}
