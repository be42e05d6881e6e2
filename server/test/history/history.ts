// The parts of a history: all observations of callers, devices, followers and the webhook receiver while the service was disturbed,
// and the final state according to the API.

import type { Execution, JobcastEvent, Run, Transition } from '@jobcast/contract'
import type { DeviceStep } from '../nodes/working-device.ts'

import type { TriggerAnswer } from './trigger-answer.ts'

export type { DeviceStep }

/** One request, sent once or, with a key, several times; each time has an answer. */
export type RecordedCall = {
  jobName: string
  deviceIds: readonly string[]
  key: string | undefined
  /** Of one that is no plain trigger, all that was sent. */
  asked?: string
  answers: TriggerAnswer[]
}

export type WebhookPost = { id: string; body: string; event: JobcastEvent; accepted: boolean }

export type History = {
  calls: RecordedCall[]
  /** In the order in which each device took them. */
  steps: DeviceStep[]
  /** What each follower saw, in that order, over all its connections. */
  followers: JobcastEvent[][]
  posts: WebhookPost[]
  schedules?: RecordedSchedule[]
  windows?: RecordedWindow[]
  /** Runs whose rate was changed. */
  patched?: ReadonlySet<number>
}

export type Final = {
  runs: Run[]
  executions: Execution[]
  /** By execution. */
  transitions: ReadonlyMap<number, Transition[]>
  /** The event log, read in one go, up to its newest event at that time. */
  log: JobcastEvent[]
  /** The webhook receives what comes after this event. */
  webhookAfter: number
}

/** `due`: instants at which it was due; undefined: it gives each device its job once. */
export type RecordedSchedule = {
  scheduleName: string
  due: number[] | undefined
  /** What is due later may not have been handled. */
  handledUntil?: number
}

export type RecordedWindow = {
  windowName: string
  cron: string
  durationMinutes: number
  timeZone: string
  /** That it has closed may come late to a service that is disturbed; it never opens early. */
  closedLateMs?: number
}
