// The client: one object per service and key.

import { Audit } from './audit.ts'
import { type Devices, deviceCalls } from './devices.ts'
import { Enrollments } from './enrollments.ts'
import type { JobcastEvent } from './event.ts'
import { Executions } from './executions.ts'
import { Files } from './files.ts'
import { Fleet } from './fleet.ts'
import { type EventsOptions, followEvents } from './follow-events.ts'
import { type Groups, groupCalls } from './groups.ts'
import { Health } from './health.ts'
import { type Jobs, jobCalls } from './jobs.ts'
import { Keys } from './keys.ts'
import type { Query } from './list.ts'
import { Owners } from './owners.ts'
import { type AllResourceCalls, resourceCalls, type Secrets } from './resource-calls.ts'
import { Runs, type TriggerOptions } from './runs.ts'
import { type Schedules, scheduleCalls } from './schedules.ts'
import type { GetStatsQuery, Stats, TriggerRequest } from './schemas.ts'
import { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { type CallOptions, type JobcastOptions, Transport } from './transport.ts'
import { sendTrigger, TriggerCall } from './trigger-call.ts'
import { type Webhooks, webhookCalls } from './webhooks.ts'
import { type Windows, windowCalls } from './windows.ts'

export class Jobcast implements AllResourceCalls {
  readonly runs: Runs
  readonly executions: Executions
  readonly jobs: Jobs
  readonly devices: Devices
  readonly groups: Groups
  readonly schedules: Schedules
  readonly secrets: Secrets
  readonly files: Files
  readonly windows: Windows
  readonly enrollments: Enrollments
  readonly keys: Keys
  readonly owners: Owners
  readonly webhooks: Webhooks
  readonly fleet: Fleet
  readonly session: Session
  readonly sessions: Sessions
  readonly audit: Audit
  readonly health: Health
  readonly #transport: Transport

  constructor(options: JobcastOptions) {
    const transport = new Transport(options)
    this.#transport = transport
    this.runs = new Runs(transport)
    this.executions = new Executions(transport)
    this.jobs = jobCalls(transport)
    this.devices = deviceCalls(transport)
    this.groups = groupCalls(transport)
    this.schedules = scheduleCalls(transport)
    this.secrets = resourceCalls(transport, 'secrets')
    this.files = new Files(transport)
    this.windows = windowCalls(transport)
    this.enrollments = new Enrollments(transport)
    this.keys = new Keys(transport)
    this.owners = new Owners(transport)
    this.webhooks = webhookCalls(transport)
    this.fleet = new Fleet(transport)
    this.session = new Session(transport)
    this.sessions = new Sessions(transport)
    this.audit = new Audit(transport)
    this.health = new Health(transport)
  }

  /** Sent at once. Safe to retry after a lost response, because it has an Idempotency-Key. */
  trigger(request: TriggerRequest, options: TriggerOptions = {}): TriggerCall {
    return new TriggerCall(sendTrigger(this.#transport, request, options), this.runs)
  }

  /** Counts, success rate and durations over time and by job. */
  stats(query: Query<GetStatsQuery> = {}, { signal }: CallOptions = {}): Promise<Stats> {
    return this.#transport.value({ method: 'GET', path: '/job/api/stats', query, signal })
  }

  /** New events, or events after `after`: each once, in order, across reconnects. */
  events(options: EventsOptions = {}): AsyncIterable<JobcastEvent> {
    return { [Symbol.asyncIterator]: () => followEvents(this.#transport, options) }
  }
}
