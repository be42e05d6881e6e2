// The one list of events. Webhook filters, the types of the client, the suggestions of the console, the OpenAPI document
// and the table in docs/events.md come from it.
//
// A type is `noun.past_participle` with underscores; if the API has a word for the state that was reached, it is that
// word (`execution.in_progress`, `device.online`). This file imports no schemas; those of the data are in event-data.ts.

import type { Scope } from './api-key.ts'
import type { ExecState } from './exec-state.ts'

type Described = {
  /** The field of the data that identifies the subject; null: each owner has one. */
  id: string | null
  /** The scope that a key needs to see them. A webhook without `eventTypes` gets those that need READ. */
  scope: Extract<Scope, 'READ' | 'MANAGE' | 'ADMIN'>
  /** An alternative scope. */
  orScope?: Scope
  /** The filters that can match them; each of the others excludes them. */
  filters: readonly ('runId' | 'jobName' | 'deviceId')[]
  /** The types, each with a sentence that says when it occurs. */
  when: Readonly<Record<string, string>>
}

const ofExecutions: Record<Lowercase<ExecState> | 'progress', string> = {
  in_progress: 'the device has started the execution',
  progress:
    'the device has reported progress; the state is unchanged. At most one a second for each execution, with the newest status details',
  succeeded: 'the device reported success',
  failed: 'the device reported a failure, and there is no further retry',
  rejected: 'the device refused the execution',
  timed_out: 'a timeout or deadline has passed, and there is no further retry',
  expired: 'no device started it in time',
  canceling: 'a cancel was requested; the device has not confirmed it yet',
  canceled: 'the execution was canceled',
  pending:
    'an attempt was unsuccessful, and the execution waits for its retry; or the device said not now (cause `not-now`), and it is offered again later',
}

export const eventMap = {
  run: {
    id: 'runId',
    scope: 'READ',
    // A run belongs to the devices of its executions, which are only in the store.
    filters: ['runId', 'jobName', 'deviceId'],
    when: {
      created:
        'a trigger or a retry created a run; its executions start as PENDING, without an event for each of them',
      finished: 'the last execution of a run has ended',
      released: 'more executions of a run may be offered to their devices, by its [rollout](rollouts.md)',
      changed: 'the rollout of a run was changed after it had started',
      paused: 'a rule, a gate or a person paused a rollout',
      resumed: 'a person started, resumed or advanced a rollout',
      awaiting_approval: 'a run waits for approval, for the first time or again after a change',
      approved: 'a run was approved; `missing` says how many more approvals it needs',
      denied: 'a run was denied; its executions are canceled',
      aborted: 'a rule or a cancel aborted a rollout; executions that were not released are canceled',
    },
  },
  execution: {
    id: 'jobExecutionId',
    scope: 'READ',
    filters: ['runId', 'jobName', 'deviceId'],
    when: ofExecutions,
  },
  device: {
    id: 'deviceId',
    scope: 'READ',
    filters: ['deviceId'],
    when: {
      created: 'an owner or an enrollment created the device',
      updated: 'an owner changed the device, or the device reported attributes that have changed',
      deleted: 'the device was deleted',
      online: 'the device connected',
      offline: 'the device disconnected',
      credential_set: 'the device got a new token',
      credential_revoked: 'the token of the device was revoked',
      certificate_allowed: 'client certificates of the device are accepted again',
    },
  },
  fleet: {
    id: null,
    scope: 'READ',
    filters: [],
    when: {
      frozen: 'the fleet was frozen: devices are no longer offered work',
      unfrozen: 'the freeze ended',
    },
  },
  job: {
    id: 'jobName',
    scope: 'READ',
    filters: ['jobName'],
    when: {
      changed: 'a job was created, or has a new [version](versions.md)',
      deleted: 'a job was deleted',
    },
  },
  group: {
    id: 'groupName',
    scope: 'READ',
    filters: [],
    when: { changed: 'a [group](selectors.md) was created or changed', deleted: 'a group was deleted' },
  },
  window: {
    id: 'windowName',
    scope: 'READ',
    filters: [],
    when: { changed: 'a [window](windows.md) was created or changed', deleted: 'a window was deleted' },
  },
  secret: {
    id: 'secretName',
    scope: 'READ',
    filters: [],
    when: {
      changed: 'a [secret](secrets.md) was created or has a new value; never the value',
      deleted: 'a secret was deleted',
    },
  },
  file: {
    id: 'fileName',
    scope: 'READ',
    filters: [],
    when: {
      created: 'a version of a [file](files.md) was created',
      deleted: 'a version of a file was deleted',
    },
  },
  schedule: {
    id: 'scheduleName',
    scope: 'READ',
    filters: ['runId', 'jobName'],
    when: {
      changed: 'a [schedule](schedules.md) was created or changed',
      deleted: 'a schedule was deleted',
      fired: 'a schedule was due and created a run, or found no device to run it on',
      missed:
        'occurrences of a schedule did not run; one event for all that were due while the service was down',
      paused: 'a person or a rule paused a schedule',
      resumed: 'a person resumed a schedule',
    },
  },
  key: {
    id: 'keyId',
    scope: 'MANAGE',
    filters: [],
    when: {
      created: 'an API key was created; the very first key has no event',
      revoked: 'an API key was revoked',
    },
  },
  enrollment: {
    id: 'enrollmentId',
    scope: 'MANAGE',
    filters: [],
    when: { created: 'an enrollment was created', revoked: 'an enrollment was revoked' },
  },
  webhook: {
    id: 'webhookName',
    scope: 'MANAGE',
    filters: [],
    when: {
      created: 'a webhook was created',
      updated: 'a webhook was changed, paused or resumed; also when the service pauses it',
      deleted: 'a webhook was deleted',
    },
  },
  session: {
    id: 'sessionId',
    scope: 'MANAGE',
    filters: [],
    when: {
      signed_in: 'somebody signed in to the console',
      signed_out: 'somebody signed out, or was signed out. Expiry has no event',
    },
  },
  audit: {
    id: 'seal',
    scope: 'MANAGE',
    orScope: 'AUDIT',
    filters: [],
    when: {
      sealed:
        'entries of the [audit](audit.md) were sealed; the data is the checkpoint. At most one a minute, so not every seal has an event',
    },
  },
  owner: {
    id: 'ownerId',
    scope: 'ADMIN',
    filters: [],
    when: { created: 'an owner was created, by a key of the owner whose log has the event' },
  },
} as const satisfies Record<string, Described>

type Events = typeof eventMap
export type EventNoun = keyof Events
export type EventType = EventTypeOf<EventNoun>
export type EventTypeOf<Noun extends EventNoun> = {
  [Each in Noun]: `${Each}.${keyof Events[Each]['when'] & string}`
}[Noun]
export type NounOf<Type extends EventType> = Type extends `${infer Noun extends EventNoun}.${string}`
  ? Noun
  : never
/** Nouns of events about access. */
export type AccessNoun = {
  [Noun in EventNoun]: Events[Noun]['scope'] extends 'READ' ? never : Noun
}[EventNoun]

export const eventNouns = Object.keys(eventMap) as EventNoun[]

export const eventTypes: readonly EventType[] = eventNouns.flatMap((noun) =>
  Object.keys(eventMap[noun].when).map((verb) => `${noun}.${verb}` as EventType),
)

/** Valid filters: all types of a noun, or one type. */
export const eventPatterns: readonly string[] = [...eventNouns.map((noun) => `${noun}.*`), ...eventTypes]

export function executionEventType(state: ExecState): `execution.${Lowercase<ExecState>}` {
  return `execution.${state.toLowerCase() as Lowercase<ExecState>}`
}

/** Whether the type matches the filter; an empty filter matches every type. */
export function matchesPatterns(type: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.includes(type) || patterns.includes(`${nounOf(type)}.*`)
}

/** The noun of a type or a pattern: `run` of `run.created` and of `run.*`. */
export function nounOf(type: string): EventNoun {
  return type.slice(0, type.indexOf('.')) as EventNoun
}

export function whenOf(type: EventType): string {
  const when: Readonly<Record<string, string>> = eventMap[nounOf(type)].when
  return when[type.slice(type.indexOf('.') + 1)] ?? ''
}
