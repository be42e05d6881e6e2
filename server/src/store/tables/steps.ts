// All steps over plain tables. A step in these lists is a step of both stores.

import { apiKeyReads, apiKeyWrites } from './api-keys.ts'
import { auditReads, auditSnapshots, auditWrites } from './audit.ts'
import { bridgeCursorReads, bridgeCursorWrites } from './bridge-cursors.ts'
import { deliveryReads, deliverySnapshots, deliveryWrites } from './deliveries.ts'
import { attributeWrites } from './device-attributes.ts'
import { deviceChangeReads } from './device-changes.ts'
import { deviceValueReads } from './device-values.ts'
import { deviceWindowReads } from './device-windows.ts'
import { deviceReads, deviceWrites } from './devices.ts'
import { enrollmentReads, enrollmentWrites } from './enrollments.ts'
import { eventReads, eventSnapshots, eventWrites } from './events.ts'
import { deleteDevice, executionMoves } from './execution-moves.ts'
import { executionReads, executionWrites } from './executions.ts'
import { failingTaskReads, failingTaskWrites } from './failing-tasks.ts'
import { fileNameWrites, fileReads, fileSnapshots } from './files.ts'
import { fleetReads, fleetSnapshots } from './fleet.ts'
import { freezeReads, freezeWrites } from './freezes.ts'
import { givenDeviceReads, givenDeviceWrites } from './given-devices.ts'
import { removeGone } from './gone-devices.ts'
import { groupWindowWrites } from './group-windows.ts'
import { groupReads, groupWrites } from './groups.ts'
import { idempotencyKeyWrites } from './idempotency-keys.ts'
import { jobUserReads } from './job-users.ts'
import { jobReads, jobWrites } from './jobs.ts'
import { outputStateReads } from './output-states.ts'
import { outputSnapshots } from './outputs.ts'
import { ownerReads, ownerWrites } from './owners.ts'
import { planReads, planWrites } from './plans.ts'
import { quotaCountReads } from './quota-counts.ts'
import { budgetReads } from './rollout-budget.ts'
import { rolloutSelectionReads } from './rollout-selection.ts'
import { rolloutReads, rolloutSnapshots, rolloutWrites } from './rollouts.ts'
import { runReads, runWrites } from './runs.ts'
import { scheduleReads, scheduleWrites } from './schedules.ts'
import { secretNameWrites, secretReads, secretSnapshots, secretWrites } from './secrets.ts'
import { sessionReads, sessionWrites } from './sessions.ts'
import { statsReads, statsSnapshots } from './stats.ts'
import { steadyClockReads, steadyClockWrites } from './steady-clock.ts'
import { timeLimitReads } from './time-limits.ts'
import { transitionReads } from './transitions.ts'
import { webhookReads, webhookWrites } from './webhooks.ts'
import { windowNameWrites, windowReads, windowWrites } from './windows.ts'

/** Steps with one statement. */
export const reads = {
  ...ownerReads,
  ...apiKeyReads,
  ...sessionReads,
  ...enrollmentReads,
  ...jobReads,
  ...jobUserReads,
  ...deviceReads,
  ...deviceValueReads,
  ...groupReads,
  ...windowReads,
  ...deviceWindowReads,
  ...budgetReads,
  ...timeLimitReads,
  ...secretReads,
  ...fileReads,
  ...outputStateReads,
  ...executionReads,
  ...runReads,
  ...planReads,
  ...rolloutReads,
  ...rolloutSelectionReads,
  ...freezeReads,
  ...scheduleReads,
  ...givenDeviceReads,
  ...deviceChangeReads,
  ...quotaCountReads,
  ...transitionReads,
  ...eventReads,
  ...auditReads,
  ...fleetReads,
  ...statsReads,
  ...webhookReads,
  ...deliveryReads,
  ...steadyClockReads,
  ...failingTaskReads,
  ...bridgeCursorReads,
}

/** Steps with several statements, which see one state of the database. */
export const snapshots = {
  ...rolloutSnapshots,
  ...outputSnapshots,
  ...secretSnapshots,
  ...fileSnapshots,
  ...eventSnapshots,
  ...auditSnapshots,
  ...fleetSnapshots,
  ...statsSnapshots,
  ...deliverySnapshots,
}

export const writes = {
  ...ownerWrites,
  ...apiKeyWrites,
  ...sessionWrites,
  ...enrollmentWrites,
  ...deviceWrites,
  ...attributeWrites,
  ...executionMoves,
  removeGone,
  ...executionWrites,
  ...runWrites,
  ...planWrites,
  ...eventWrites,
  ...auditWrites,
  ...webhookWrites,
  ...deliveryWrites,
  ...rolloutWrites,
  ...freezeWrites,
  ...scheduleWrites,
  ...givenDeviceWrites,
  ...windowWrites,
  ...groupWindowWrites,
  ...secretWrites,
  ...idempotencyKeyWrites,
  ...steadyClockWrites,
  ...failingTaskWrites,
  ...bridgeCursorWrites,
}

/** Writes that add or remove names of an owner: triggers that use these names must not run in between. */
export const catalogueWrites = {
  ...jobWrites,
  ...groupWrites,
  ...windowNameWrites,
  ...secretNameWrites,
  ...fileNameWrites,
  deleteDevice,
}
