// One suite for all stores: a behaviour is added here first, then to the adapters. Each subject is a file
// and has data of its own; within a subject each test has an owner of its own.

import { type TestContext, test } from 'node:test'
import { exerciseDevices } from './exercise-devices.ts'
import { exerciseIdempotency } from './exercise-idempotency.ts'
import { exerciseInterleavings } from './exercise-interleavings.ts'
import { exerciseJobs } from './exercise-jobs.ts'
import { exerciseKeys } from './exercise-keys.ts'
import { exerciseLists } from './exercise-lists.ts'
import { exerciseMoves } from './exercise-moves.ts'
import { exerciseReopening } from './exercise-reopening.ts'
import { exerciseTriggers } from './exercise-triggers.ts'
import type { OpenStore, StoreUnderTest } from './store-under-test.ts'

const subjects: Record<string, (t: TestContext, underTest: StoreUnderTest) => Promise<void>> = {
  triggers: exerciseTriggers,
  'idempotency keys': exerciseIdempotency,
  moves: exerciseMoves,
  lists: exerciseLists,
  devices: exerciseDevices,
  jobs: exerciseJobs,
  'owners and keys': exerciseKeys,
  'opened again': exerciseReopening,
  'steps in parallel': exerciseInterleavings,
}

export function exerciseStore(name: string, open: OpenStore): void {
  for (const [subject, exercise] of Object.entries(subjects)) {
    test(`${name}: ${subject}`, async (t) => exercise(t, await open(t)))
  }
}
