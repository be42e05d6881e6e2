// Random lives of executions, reported, repeated and disturbed in any order, in every store as in a plain list in memory.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { reportedStatuses, retriedStates, shownPending } from '@jobcast/contract'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { steadyInstant } from '../../src/domain/common/instants.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type { DeviceReport } from '../../src/domain/execution/device-report.ts'
import type { Moment } from '../../src/domain/execution/execution.ts'
import type { Moved } from '../../src/domain/execution/ports/executions.ts'
import type { StoredJobContent } from '../../src/domain/job/ports/jobs.ts'
import { startNext, update } from './device-reports.ts'
import { LifeModel } from './life-model.ts'
import {
  assertRunsAddUp,
  createOne,
  emptyContent,
  fireClocks,
  momentAt,
  readQueue,
  type Seed,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

// Owners live side by side on one clock, and what their devices tell in one moment is written together.
const worlds = randomInputs({ test: 1, chaos: 60 })
const ownersPerWorld = 10

const deviceIds = ['d1', 'd2']
const seconds = (max: number) => fc.option(fc.integer({ min: 1, max }), { freq: 2 })

type Policies = Pick<StoredJobContent, 'expireAfterSeconds' | 'timeoutSeconds' | 'deadlineSeconds' | 'retry'>
const policy: fc.Arbitrary<Policies> = fc.record({
  expireAfterSeconds: seconds(20),
  timeoutSeconds: seconds(15),
  deadlineSeconds: seconds(60),
  retry: fc.option(
    fc.record({
      max: fc.integer({ min: 1, max: 3 }),
      backoffSeconds: fc.constantFrom(0, 1, 5),
      on: fc.subarray([...retriedStates], { minLength: 1 }),
    }),
  ),
})

const lively = ['IN_PROGRESS', 'FAILED', 'REJECTED', 'CANCELED'] as const

const brought = {
  statusDetails: fc.option(
    // Of a rejection the second means: not now.
    fc.dictionary(fc.constantFrom('a', 'retryAfterSeconds'), fc.constantFrom('1', '4'), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    {
      nil: undefined,
    },
  ),
  stepTimeout: fc.constantFrom(undefined, undefined, undefined, 4000, 30_000, 'discard' as const),
}

const step = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('trigger' as const), both: fc.boolean() }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('start-next' as const),
      deviceId: fc.constantFrom(...deviceIds),
      ...brought,
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      deviceId: fc.constantFrom(...deviceIds),
      pick: fc.nat(5),
      // Most often those after which there is more to tell.
      status: fc.constantFrom(...reportedStatuses, ...lively, ...lively),
      /** How far behind is what the device believes. */
      attemptBehind: fc.constantFrom(undefined, undefined, undefined, 0, 0, 1),
      versionBehind: fc.constantFrom(undefined, undefined, undefined, 0, 0, 1),
      clientToken: fc.constantFrom(undefined, 'x', 'y'),
      result: fc.constantFrom(undefined, undefined, '{"n":1}'),
      ...brought,
    }),
    weight: 6,
  },
  // The same report once more, at once or late.
  { arbitrary: fc.record({ kind: fc.constant('again' as const), pick: fc.nat(3) }), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant('cancel' as const),
      pick: fc.nat(5),
      force: fc.constantFrom(false, false, false, true),
    }),
    weight: 2,
  },
  fc.record({ kind: fc.constant('cancel-run' as const), pick: fc.nat(5) }),
  fc.record({ kind: fc.constant('deliver' as const), pick: fc.nat(5), confirmed: fc.boolean() }),
  fc.record({ kind: fc.constant('nothing' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const tick = fc.record({
  waitMs: fc.constantFrom(0, 0, 0, 500, 1000, 3000, 7000),
  steps: fc.array(step, { minLength: ownersPerWorld, maxLength: ownersPerWorld }),
})

type Owner = { seed: Seed; model: LifeModel; sent: DeviceReport[] }

export async function exerciseLives(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  await t.test(
    `${worlds.numRuns * ownersPerWorld} random lives go as in a plain list (seed ${worlds.seed})`,
    async () => {
      const { store } = underTest
      const property = fc.asyncProperty(
        fc.array(policy, { minLength: ownersPerWorld, maxLength: ownersPerWorld }),
        fc.array(tick, { minLength: 8, maxLength: 20, size: 'max' }),
        async (policies, ticks) => {
          const owners = await Promise.all(policies.map((policy) => openOwner(store, policy)))
          let at = startedAt
          for (const { waitMs, steps } of ticks) {
            at += waitMs
            // The wall is somewhere else: nothing may depend on it.
            const moment = momentAt(at + 86_400_000, {
              clock: steadyInstant(at),
              chance: 0.5,
              cancelDeadlineMs: 5000,
            })
            await assertFiredAsModeled(store, owners, moment)
            await takeAll(store, owners, steps, moment)
          }
          for (const owner of owners) await assertAsModeled(store, owner)
        },
      )
      await fc.assert(property, worlds)
    },
  )
}

async function openOwner(store: Store, policy: Policies): Promise<Owner> {
  const seed = await seedOwner(store, { devices: deviceIds, content: policy })
  const model = new LifeModel(seed.ownerNo, { ...emptyContent, ...policy })
  const owner = { seed, model, sent: [] }
  model.launch(await createOne(store, seed.trigger(['d1', 'd2'])), steadyInstant(startedAt), 'k1')
  return owner
}

async function assertFiredAsModeled(store: Store, owners: Owner[], moment: Moment): Promise<void> {
  const ownerNos = owners.map(({ seed }) => seed.ownerNo)
  const fired = await fireClocks(store, ownerNos, moment)
  const inShort = ({ jobExecutionId, from, execState }: Moved) => `${jobExecutionId} ${from} ${execState}`
  const expected = owners.flatMap(({ model }) => model.fireClocks(moment))
  assert.deepEqual(fired.map(inShort).sort(), expected.map(inShort).sort())
}

/** What devices report goes into one list; the rest is sent beside it. */
async function takeAll(store: Store, owners: Owner[], steps: Step[], moment: Moment): Promise<void> {
  const reports: { owner: Owner; report: DeviceReport }[] = []
  const others: Promise<void>[] = []
  owners.forEach((owner, index) => {
    const step = steps[index] as Step
    const report = reportOf(owner, step, moment)
    if (report) reports.push({ owner, report })
    else others.push(take(store, owner, step, moment))
  })
  const outcomes = await store.recordReports(reports.map(({ report }) => report))
  await Promise.all(others)
  for (const [index, { owner, report }] of reports.entries()) {
    owner.sent.unshift(report)
    const { deviceId } = report.device
    const expected =
      report.kind === 'update'
        ? owner.model.update(deviceId, report)
        : owner.model.startNext(deviceId, moment, report as Extract<DeviceReport, { kind: 'start-next' }>)
    assert.deepEqual(outcomes[index], expected)
  }
}

function reportOf({ seed, model, sent }: Owner, step: Step, moment: Moment): DeviceReport | undefined {
  const { ownerNo } = seed
  if (step.kind === 'again') {
    const report = sent[step.pick]
    return report && { ...report, moment }
  }
  if (step.kind === 'start-next') {
    const { deviceId, statusDetails, stepTimeout } = step
    return startNext({ ownerNo, deviceId }, { moment, statusDetails, stepTimeout })
  }
  if (step.kind !== 'update') return undefined
  const { deviceId, pick, status, attemptBehind, versionBehind, ...brought } = step
  const own = model.executions.filter((execution) => execution.deviceId === deviceId)
  const execution = own[pick % (own.length || 1)]
  if (execution === undefined) return undefined
  return update({ ownerNo, deviceId }, execution.jobExecutionId, status, {
    moment,
    statusDetails: brought.statusDetails,
    stepTimeout: brought.stepTimeout,
    clientToken: brought.clientToken,
    result: brought.result,
    attempt: attemptBehind === undefined ? undefined : execution.life.attempt - attemptBehind,
    expectedVersion: versionBehind === undefined ? undefined : execution.versionNumber - versionBehind,
  })
}

async function take(store: Store, { seed, model }: Owner, step: Step, moment: Moment): Promise<void> {
  const { ownerNo } = seed
  const execution = 'pick' in step ? model.executions[step.pick % model.executions.length] : undefined
  switch (step.kind) {
    case 'trigger': {
      const { at: launchedAt, clock } = moment
      const wanted = step.both ? deviceIds : deviceIds.slice(1)
      model.launch(await createOne(store, seed.trigger(wanted, { launchedAt, clock })), clock, 'k1')
      return
    }
    case 'cancel': {
      assert.ok(execution)
      const { jobExecutionId } = execution
      const event = step.force ? 'force-cancel' : 'cancel'
      const outcome = await store.moveExecution({ ownerNo, jobExecutionId, event, moment, actor: 'key k2' })
      const from = execution.life.execState
      const moved = model.move(execution, event, moment, 'key k2')
      assert.deepEqual(
        outcome,
        moved
          ? { kind: 'moved', execution: model.stored(execution), from }
          : { kind: 'refused', execState: from },
      )
      return
    }
    case 'cancel-run': {
      const runId = execution?.run.runId ?? 0
      const move = { ownerNo, runId, event: 'cancel', moment, actor: 'key k2', from: undefined } as const
      const moved = model.executions
        .filter(({ run }) => run.runId === runId)
        .flatMap((each) => model.move(each, 'cancel', moment, 'key k2') ?? [])
      assert.deepEqual(await store.moveRun(move), { moved, next: undefined })
      return
    }
    case 'deliver': {
      assert.ok(execution)
      const ids = [execution.jobExecutionId]
      const { at } = moment
      await store.recordDeliveries({ notified: ids, delivered: step.confirmed ? ids : [], at })
      execution.notifiedAt ??= at
      if (step.confirmed) execution.deliveredAt ??= at
    }
  }
}

async function assertAsModeled(store: Store, { seed, model }: Owner): Promise<void> {
  const { ownerNo } = seed
  for (const execution of model.executions) {
    const { jobExecutionId, history } = execution
    assert.deepEqual(await store.getExecution({ ownerNo, jobExecutionId }), model.stored(execution))
    assert.deepEqual(await store.listTransitions({ ownerNo, jobExecutionId }), history)
  }
  for (const deviceId of deviceIds) {
    const queue = await readQueue(store, { ownerNo, deviceId })
    const expected = model.queue(deviceId)
    assert.equal(queue.total, expected.length)
    assert.deepEqual(
      queue.executions,
      expected.slice(0, shownPending).map((execution) => model.seen(execution)),
    )
  }
  await assertRunsAddUp(store, ownerNo)
}
