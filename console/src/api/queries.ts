// All queries of the API: their keys, by which events invalidate them (live/affected-keys.ts), and their reads.

import {
  type AllResourceCalls,
  type Delivery,
  type DevicesChange,
  type GetStatsQuery,
  type ListAuditQuery,
  type ListDevicesQuery,
  type ListExecutionsQuery,
  type ListRunsQuery,
  type NewRun,
  type Query,
  type ResourceName,
  type ResourceTypes,
  resources,
} from '@jobcast/client'
import { naturally } from '../parts/natural-order.ts'
import { jobcast } from './client.ts'
import type { CalendarQuery } from './read-calendar.ts'

export type AuditQuery = Omit<Query<ListAuditQuery>, 'limit' | 'cursor'>

type Read<T> = {
  queryKey: readonly unknown[]
  queryFn: (context: { signal: AbortSignal }) => Promise<T>
  structuralSharing?: boolean
}

function read<T>(queryKey: readonly unknown[], queryFn: Read<T>['queryFn']): Read<T> {
  return { queryKey, queryFn }
}

/** States of executions that their device has begun. */
export const reachedStates = [
  'IN_PROGRESS',
  'CANCELING',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
] as const

const eventWaitMs = 5000

/** One cell per device; with more the cells are too small. */
export const mappedDevices = 10_000

export const queries = {
  fleet: () => read(['fleet'], (options) => jobcast.fleet.get(options)),
  fleetDevices: () => ({
    ...read(['fleet-devices'], async (options) => {
      const page = await jobcast.fleet.devices({ limit: mappedDevices }, options).page()
      return { ...page, items: naturally(page.items, ({ deviceId }) => deviceId) }
    }),
    structuralSharing: false, // comparing ten thousand devices takes longer than drawing them
  }),
  freeze: () => read(['freeze'], (options) => jobcast.fleet.getFreeze(options)),
  fleetGroups: (by: string) =>
    read(['fleet', 'groups', by], (options) => jobcast.fleet.groups({ by, limit: 200 }, options)),
  /** All devices, in which the trigger screen searches. */
  allFleetDevices: () => ({
    ...read(['fleet-devices', 'all'], (options) =>
      Array.fromAsync(jobcast.fleet.devices({ limit: mappedDevices }, options)),
    ),
    structuralSharing: false,
  }),
  allJobs: () =>
    read(['jobs', 'all'], (options) => Array.fromAsync(jobcast.jobs.list({ limit: 200 }, options))),
  group: (groupName: string) =>
    read(['group', groupName], (options) => jobcast.groups.get(groupName, options)),
  allGroups: () =>
    read(['groups', 'all'], (options) => Array.fromAsync(jobcast.groups.list({ limit: 200 }, options))),
  window: (windowName: string) =>
    read(['window', windowName], (options) => jobcast.windows.get(windowName, options)),
  windowTimes: (windowName: string, query: { count: number; timeZone?: string; after?: string }) =>
    read(['window', windowName, 'times', query], (options) =>
      jobcast.windows.next(windowName, query, options),
    ),
  allWindows: () =>
    read(['windows', 'all'], (options) => Array.fromAsync(jobcast.windows.list({ limit: 200 }, options))),
  schedule: (scheduleName: string) =>
    read(['schedule', scheduleName], (options) => jobcast.schedules.get(scheduleName, options)),
  scheduleTimes: (scheduleName: string, count: number) =>
    read(['schedule', scheduleName, 'times', count], (options) =>
      jobcast.schedules.next(scheduleName, { count, ...options }),
    ),
  allSchedules: () =>
    read(['schedules', 'all'], (options) => Array.fromAsync(jobcast.schedules.list({ limit: 200 }, options))),
  firstSchedules: () =>
    read(['schedules', 'first'], (options) => jobcast.schedules.list({ limit: 200 }, options).page()),
  calendar: (query: CalendarQuery) =>
    read(['schedules', 'calendar', query], async (options) => {
      // Imported on demand, because few screens need it and every screen loads this file.
      const { readCalendar } = await import('./read-calendar.ts')
      return readCalendar(query, options)
    }),
  deviceCount: (where: string) =>
    read(['devices', 'count', where], (options) => jobcast.devices.count(where, options)),
  /** Preview of a change of many devices. */
  devicesChange: (change: DevicesChange) =>
    read(['devices', 'change', change], (options) =>
      jobcast.devices.change(change, { dryRun: true, ...options }),
    ),
  /** Under ['devices'], because changes of devices may change the plan. */
  runPlan: (run: NewRun) => read(['devices', 'plan', run], (options) => jobcast.runs.plan(run, options)),
  firstDevices: () =>
    read(['devices', 'first'], (options) => jobcast.devices.list({ limit: 200 }, options).page()),
  unfinishedRuns: () =>
    read(['runs', 'unfinished'], (options) =>
      jobcast.runs.list({ finished: false, limit: 50 }, options).page(),
    ),
  approvals: () =>
    read(['approvals'], (options) =>
      jobcast.runs.list({ finished: false, rolloutState: 'AWAITING_APPROVAL', limit: 200 }, options).page(),
    ),
  /** Under ['approvals'], which is also invalidated when a run is paused or resumed. */
  pausedRuns: () =>
    read(['approvals', 'paused'], (options) =>
      jobcast.runs.list({ finished: false, rolloutState: 'PAUSED', limit: 20 }, options).page(),
    ),
  newestRuns: () => read(['runs', 'newest'], (options) => jobcast.runs.list({ limit: 20 }, options).page()),
  run: (runId: number) => read(['run', runId], (options) => jobcast.runs.get(runId, options)),
  runTimeline: (runId: number) =>
    read(['run', runId, 'timeline'], (options) => jobcast.runs.timeline(runId, { buckets: 120 }, options)),
  /** The server's explanation why nothing of a run has begun; null if something has. */
  whyWaiting: (runId: number) =>
    read(['run', runId, 'waiting'], async (options) => {
      const { readWhyWaiting } = await import('./read-why-waiting.ts')
      return readWhyWaiting(runId, options)
    }),
  /** Why devices of a run failed. `count`: part of the key, so that another number of failures causes a new read. */
  failuresOf: (runId: number, count: number) =>
    read(['failures', runId, count], (options) => jobcast.runs.failures(runId, options)),
  /** Retries of this run. They are of the same job, so they are among its newest runs. */
  retriesOf: ({ runId, jobName }: { runId: number; jobName: string }) =>
    read(['runs', 'retries of', runId], async (options) => {
      const { items } = await jobcast.runs.list({ jobName, limit: 200 }, options).page()
      return items.filter(({ retryOf }) => retryOf === runId)
    }),
  /** The first devices that a rollback of the run would affect. */
  rolledBack: (runId: number) =>
    read(['run', runId, 'rolled-back'], (options) =>
      jobcast.executions.list({ runId, execState: [...reachedStates], limit: 200 }, options).page(),
    ),
  execution: (id: number) => read(['execution', id], (options) => jobcast.executions.get(id, options)),
  /** The document that its device got, or would get now. */
  executionDocument: (id: number) =>
    read(['execution', id, 'document'], (options) => jobcast.executions.document(id, options)),
  executionHistory: (id: number) =>
    read(['execution', id, 'history'], (options) => jobcast.executions.history(id, options)),
  executionExplanation: (id: number) =>
    read(['execution', id, 'explanation'], (options) => jobcast.executions.explain(id, options)),
  /** Earlier executions that the device may have had to finish first. */
  executionsBefore: ({ jobExecutionId, deviceId }: { jobExecutionId: number; deviceId: string }) =>
    read(['device', deviceId, 'executions before', jobExecutionId], async (options) => {
      const { items } = await jobcast.executions.list({ deviceId, limit: 200 }, options).page()
      return items.filter((other) => other.jobExecutionId < jobExecutionId)
    }),
  device: (deviceId: string) =>
    read(['device', deviceId], (options) => jobcast.devices.get(deviceId, options)),
  lastExecutionsOf: (deviceId: string, limit = 50) =>
    read(['device-executions', deviceId, 'last', limit], (options) =>
      jobcast.executions.list({ deviceId, limit }, options).page(),
    ),
  queueOf: (deviceId: string) =>
    read(['device-executions', deviceId, 'queue'], async (options) => {
      const { readQueue } = await import('./read-queue.ts')
      return readQueue(deviceId, options)
    }),
  runsOfJob: (jobName: string) =>
    read(['runs', 'of-job', jobName], (options) => jobcast.runs.list({ jobName, limit: 10 }, options).page()),
  /** Keys for names; an owner rarely has more. */
  firstKeys: () => read(['keys', 'first'], (options) => jobcast.keys.list({ limit: 200 }, options).page()),
  firstWebhooks: () =>
    read(['webhooks', 'first'], (options) => jobcast.webhooks.list({ limit: 200 }, options).page()),
  /** Read as the first event after the previous id; null if it is no longer retained. */
  event: (eventId: number) =>
    read(['event', eventId], async ({ signal }) => {
      const life = AbortSignal.any([signal, AbortSignal.timeout(eventWaitMs)])
      try {
        for await (const event of jobcast.events({ after: eventId - 1, signal: life }))
          return event.eventId === eventId ? event : null
      } catch {
        // The event is no longer in the log, or the log was closed after the wait.
      }
      return null
    }),
  bridges: () => read(['bridges'], (options) => jobcast.fleet.bridges({}, options).page()),
  stats: (query: Query<GetStatsQuery>) => read(['stats', query], (options) => jobcast.stats(query, options)),
  owners: () => read(['owners'], (options) => jobcast.owners.list({ limit: 200 }, options).page()),
  job: (jobName: string) => read(['job', jobName], (options) => jobcast.jobs.get(jobName, options)),
  jobVersion: (jobName: string, version: number) =>
    read(['job', jobName, 'version', version], (options) => jobcast.jobs.version(jobName, version, options)),
  /** The newest versions. */
  jobVersions: (jobName: string) =>
    read(['job', jobName, 'versions'], (options) =>
      jobcast.jobs.versions(jobName, { limit: 100 }, options).page(),
    ),
  runsOfVersion: (jobName: string, version: number) =>
    read(['runs', 'of-version', jobName, version], (options) =>
      jobcast.runs.list({ jobName, version, limit: 20 }, options).page(),
    ),
  webhook: (name: string) => read(['webhook', name], (options) => jobcast.webhooks.get(name, options)),
}

function listOf<Name extends ResourceName>(name: Name, query: Query<ResourceTypes[Name]['query']> = {}) {
  const calls: AllResourceCalls = jobcast
  const { key } = resources[name]
  return {
    key: [name, query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      calls[name].list({ ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (item: ResourceTypes[Name]['view']) => String(item[key as keyof typeof item]),
  }
}

/** Lists that are read page by page, for `useList`. */
export const lists = {
  runs: (query: Query<Pick<ListRunsQuery, 'jobName' | 'finished' | 'rolloutState'>> = {}) => ({
    key: ['runs', query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.runs.list({ ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (run: { runId: number }) => run.runId,
  }),
  executions: (query: Query<ListExecutionsQuery> = {}) => ({
    key: ['executions', query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.executions.list({ ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (execution: { jobExecutionId: number }) => execution.jobExecutionId,
  }),
  devices: (query: Query<Pick<ListDevicesQuery, 'tag' | 'online' | 'where'>> = {}) =>
    listOf('devices', query),
  groups: () => listOf('groups'),
  secrets: () => listOf('secrets'),
  files: () => ({
    key: ['files'] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.files.list({ limit: 200, cursor }, { signal }).page(),
    idOf: ({ fileName }: { fileName: string }) => fileName,
  }),
  fileVersions: (fileName: string) => ({
    key: ['files', fileName] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.files.versions(fileName, { limit: 200, cursor }, { signal }).page(),
    idOf: ({ version }: { version: string }) => version,
  }),
  windows: () => listOf('windows'),
  schedules: () => listOf('schedules'),
  runsOfSchedule: (scheduleName: string) => ({
    key: ['runs', 'of-schedule', scheduleName] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.runs.list({ scheduleName, limit: 200, cursor }, { signal }).page(),
    idOf: (run: { runId: number }) => run.runId,
  }),
  jobVersions: (jobName: string) => ({
    key: ['job', jobName, 'version-list'] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.jobs.versions(jobName, { limit: 50, cursor }, { signal }).page(),
    idOf: ({ version }: { version: number }) => version,
  }),
  jobs: () => listOf('jobs'),
  keys: (query: { ownerId?: string | undefined } = {}) => ({
    key: ['keys', query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.keys.list({ ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (key: { keyId: string }) => key.keyId,
  }),
  sessions: () => ({
    key: ['sessions'] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.sessions.list({ limit: 200, cursor }, { signal }).page(),
    idOf: (session: { sessionId: string }) => session.sessionId,
  }),
  audit: (query: AuditQuery = {}) => ({
    key: ['audit', query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.audit.list({ ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (entry: { auditId: number }) => entry.auditId,
  }),
  webhooks: () => listOf('webhooks'),
  deliveries: (webhookName: string, query: { state?: Delivery['state'] | undefined } = {}) => ({
    key: ['webhook', webhookName, 'deliveries', query] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.webhooks.deliveries(webhookName, { ...query, limit: 200, cursor }, { signal }).page(),
    idOf: (delivery: { eventId: number }) => delivery.eventId,
  }),
  enrollments: () => ({
    key: ['enrollments'] as const,
    load: (cursor: string | undefined, signal: AbortSignal) =>
      jobcast.enrollments.list({ limit: 200, cursor }, { signal }).page(),
    idOf: (enrollment: { enrollmentId: string }) => enrollment.enrollmentId,
  }),
}
