// The port to the database. Each noun has its part in a file of this folder; all parts follow these rules:
//
// A step holds as a whole: when its promise resolves, all of it is on disk; when it rejects, nothing of it is. There is one
// exception: CommitUnknown says that all of it is on disk or nothing of it, because the database was lost before it
// confirmed the commit and could not be asked since. A store says what it found; the rules of domain/ say what that means.
// Each step takes one object or one list. Steps reject with StorageUnavailable when the database or its disk cannot be
// used for now.
//
// Instants are milliseconds since 1970, of the wall clock unless their type is SteadyInstant. `ownerNo` is the owner's
// number inside the store.

import type { ApiKeyStore } from './api-keys.ts'
import type { DeviceQueueStore } from './device-queues.ts'
import type { DeviceStore } from './devices.ts'
import type { EnrollmentStore } from './enrollments.ts'
import type { EventStore } from './events.ts'
import type { ExecutionStore } from './executions.ts'
import type { FailingTaskStore } from './failing-tasks.ts'
import type { FleetStore } from './fleet.ts'
import type { GroupStore } from './groups.ts'
import type { JobStore } from './jobs.ts'
import type { OwnerStore } from './owners.ts'
import type { PresenceStore } from './presence.ts'
import type { QuotaCountStore } from './quota-counts.ts'
import type { RolloutStore } from './rollouts.ts'
import type { RunStore } from './runs.ts'
import type { ScheduleStore } from './schedules.ts'
import type { SessionStore } from './sessions.ts'
import type { StatsStore } from './stats.ts'
import type { SteadyClockStore } from './steady-clock.ts'
import type { TriggerStore } from './triggers.ts'
import type { WebhookStore } from './webhooks.ts'
import type { WindowStore } from './windows.ts'

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
  RolloutStore &
  ScheduleStore &
  WindowStore &
  QuotaCountStore &
  DeviceQueueStore &
  EventStore &
  SessionStore &
  WebhookStore &
  FleetStore &
  StatsStore &
  FailingTaskStore &
  SteadyClockStore

type StoreLifecycle = {
  /** Rejects when the database cannot be written right now. */
  checkHealth(): Promise<void>
  /** What was sent before is done; what is sent later rejects with StorageUnavailable. May be called twice. */
  close(): Promise<void>
}
