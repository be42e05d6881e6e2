// One suite for all stores: a behaviour is added here first, then to the adapters. Each subject is a file
// and has data of its own; within a subject each test has an owner of its own.

import { describe, type TestContext, test } from 'node:test'
import { longTest } from '@jobcast/testkit/test-size'
import { exerciseAudit } from './exercise-audit.ts'
import { exerciseAuditAttacks } from './exercise-audit-attacks.ts'
import { exerciseClocks } from './exercise-clocks.ts'
import { exerciseCredentials } from './exercise-credentials.ts'
import { exerciseDeviceWindows } from './exercise-device-windows.ts'
import { exerciseDevices } from './exercise-devices.ts'
import { exerciseEnrollments } from './exercise-enrollments.ts'
import { exerciseEvents } from './exercise-events.ts'
import { exerciseFailingTasks } from './exercise-failing-tasks.ts'
import { exerciseFiles } from './exercise-files.ts'
import { exerciseFleet } from './exercise-fleet.ts'
import { exerciseGivenDevices } from './exercise-given-devices.ts'
import { exerciseHistory } from './exercise-history.ts'
import { exerciseHolds } from './exercise-holds.ts'
import { exerciseIdempotency } from './exercise-idempotency.ts'
import { exerciseInterleavings } from './exercise-interleavings.ts'
import { exerciseJobs } from './exercise-jobs.ts'
import { exerciseKeys } from './exercise-keys.ts'
import { exerciseLargeRuns } from './exercise-large-runs.ts'
import { exerciseLists } from './exercise-lists.ts'
import { exerciseLives } from './exercise-lives.ts'
import { exerciseMoves } from './exercise-moves.ts'
import { exerciseNotNow } from './exercise-not-now.ts'
import { exerciseOutputs } from './exercise-outputs.ts'
import { exercisePlans } from './exercise-plans.ts'
import { exercisePresence } from './exercise-presence.ts'
import { exercisePriorities } from './exercise-priorities.ts'
import { exerciseQueues } from './exercise-queues.ts'
import { exerciseQuotas } from './exercise-quotas.ts'
import { exerciseRates } from './exercise-rates.ts'
import { exerciseReopening } from './exercise-reopening.ts'
import { exerciseReplacing } from './exercise-replacing.ts'
import { exerciseReports } from './exercise-reports.ts'
import { exerciseRetention } from './exercise-retention.ts'
import { exerciseRetries } from './exercise-retries.ts'
import { exerciseRollouts } from './exercise-rollouts.ts'
import { exerciseRunFailures } from './exercise-run-failures.ts'
import { exerciseSchedules } from './exercise-schedules.ts'
import { exerciseSecrets } from './exercise-secrets.ts'
import { exerciseSelectors } from './exercise-selectors.ts'
import { exerciseSessions } from './exercise-sessions.ts'
import { exerciseStats } from './exercise-stats.ts'
import { exerciseTriggers } from './exercise-triggers.ts'
import { exerciseWebhooks } from './exercise-webhooks.ts'
import { exerciseWindows } from './exercise-windows.ts'
import type { OpenStore, StoreUnderTest } from './store-under-test.ts'

const subjects: Record<string, (t: TestContext, underTest: StoreUnderTest) => Promise<void>> = {
  triggers: exerciseTriggers,
  'idempotency keys': exerciseIdempotency,
  moves: exerciseMoves,
  reports: exerciseReports,
  retries: exerciseRetries,
  'not now': exerciseNotNow,
  clocks: exerciseClocks,
  lives: exerciseLives,
  queues: exerciseQueues,
  priorities: exercisePriorities,
  replacing: exerciseReplacing,
  rollouts: exerciseRollouts,
  'rates of rollouts': exerciseRates,
  'failing tasks': exerciseFailingTasks,
  windows: exerciseWindows,
  'windows of devices and groups': exerciseDeviceWindows,
  'time limits of what is held back': exerciseHolds,
  schedules: exerciseSchedules,
  'given devices': exerciseGivenDevices,
  files: exerciseFiles,
  secrets: exerciseSecrets,
  outputs: exerciseOutputs,
  plans: exercisePlans,
  history: exerciseHistory,
  events: exerciseEvents,
  audit: exerciseAudit,
  'attacks on the audit': exerciseAuditAttacks,
  lists: exerciseLists,
  devices: exerciseDevices,
  selectors: exerciseSelectors,
  'large runs': exerciseLargeRuns,
  presence: exercisePresence,
  credentials: exerciseCredentials,
  enrollments: exerciseEnrollments,
  webhooks: exerciseWebhooks,
  sessions: exerciseSessions,
  quotas: exerciseQuotas,
  'the fleet as a whole': exerciseFleet,
  'counts over time': exerciseStats,
  'failures of a run': exerciseRunFailures,
  retention: exerciseRetention,
  jobs: exerciseJobs,
  'owners and keys': exerciseKeys,
  'opened again': exerciseReopening,
  'steps in parallel': exerciseInterleavings,
}

export function exerciseStore(name: string, open: OpenStore): void {
  // Several at once: a store waits for the disk most of the time.
  describe(name, { concurrency: 3 }, () => {
    for (const [subject, exercise] of Object.entries(subjects)) {
      test(`${name}: ${subject}`, longTest, async (t) => exercise(t, await open(t)))
    }
  })
}
