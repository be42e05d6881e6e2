// The port to the database. Each noun has its part in a file of this folder; all parts follow these rules:
//
// A step is atomic: when its promise resolves, all of it is on disk; when it rejects, nothing of it is. There is one
// exception: after CommitUnknown, either all of it or nothing is on disk, because the connection was lost before the
// database confirmed the commit. A store returns what it found; the rules of domain/ decide what that means.
// Each step takes one object or one list. Steps reject with StorageUnavailable while the database or its disk cannot be
// used.
//
// The input of any step that writes may have an `origin` (audit/ports/entries.ts): the caller. It is stored with the audit
// entries of the transaction.
//
// Instants are milliseconds since 1970, of the wall clock unless their type is SteadyInstant. `ownerNo` is the owner's
// number inside the store.

import type { ApiKeyStore } from '../../access/ports/api-keys.ts'
import type { OwnerStore } from '../../access/ports/owners.ts'
import type { QuotaCountStore } from '../../access/ports/quota-counts.ts'
import type { SessionStore } from '../../access/ports/sessions.ts'
import type { AuditStore } from '../../audit/ports/audit.ts'
import type { DeviceStore } from '../../device/ports/devices.ts'
import type { EnrollmentStore } from '../../device/ports/enrollments.ts'
import type { FleetStore } from '../../device/ports/fleet.ts'
import type { PresenceStore } from '../../device/ports/presence.ts'
import type { StatsStore } from '../../device/ports/stats.ts'
import type { BridgeCursorStore } from '../../event/ports/bridge-cursors.ts'
import type { EventStore } from '../../event/ports/events.ts'
import type { DeviceQueueStore } from '../../execution/ports/device-queues.ts'
import type { ExecutionStore } from '../../execution/ports/executions.ts'
import type { FileStore } from '../../file/ports/files.ts'
import type { JobStore } from '../../job/ports/jobs.ts'
import type { RolloutStore } from '../../rollout/ports/rollouts.ts'
import type { GivenDeviceStore } from '../../schedule/ports/given-devices.ts'
import type { ScheduleStore } from '../../schedule/ports/schedules.ts'
import type { SecretStore } from '../../secret/ports/secrets.ts'
import type { GroupStore } from '../../selector/ports/groups.ts'
import type { PlanStore } from '../../trigger/ports/plans.ts'
import type { RunFailureStore } from '../../trigger/ports/run-failures.ts'
import type { RunStore } from '../../trigger/ports/runs.ts'
import type { RunsWithinStore } from '../../trigger/ports/runs-within.ts'
import type { TriggerStore } from '../../trigger/ports/triggers.ts'
import type { WebhookStore } from '../../webhook/ports/webhooks.ts'
import type { DeviceWindowStore } from '../../window/ports/device-windows.ts'
import type { WindowStore } from '../../window/ports/windows.ts'
import type { FailingTaskStore } from './failing-tasks.ts'
import type { SteadyClockStore } from './steady-clock.ts'

export type Store = StoreLifecycle &
  OwnerStore &
  ApiKeyStore &
  JobStore &
  DeviceStore &
  GroupStore &
  PresenceStore &
  EnrollmentStore &
  TriggerStore &
  ExecutionStore &
  RunStore &
  RunFailureStore &
  RunsWithinStore &
  PlanStore &
  RolloutStore &
  ScheduleStore &
  GivenDeviceStore &
  WindowStore &
  DeviceWindowStore &
  SecretStore &
  FileStore &
  QuotaCountStore &
  DeviceQueueStore &
  EventStore &
  AuditStore &
  BridgeCursorStore &
  SessionStore &
  WebhookStore &
  FleetStore &
  StatsStore &
  FailingTaskStore &
  SteadyClockStore

type StoreLifecycle = {
  /** Rejects when the database cannot be written right now. */
  checkHealth(): Promise<void>
  /** Completes earlier steps; later ones reject with StorageUnavailable. May be called twice. */
  close(): Promise<void>
}
