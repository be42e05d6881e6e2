// Webhooks and their deliveries, under the rules of store.ts.

import type { DeliveryState, PauseReason } from '@jobcast/contract'
import type { OwnerList, Put, Slice, Sliced } from './slices.ts'

export type WebhookContent = {
  url: string
  /** Types and kinds, as `execution.*`; none: all. */
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
}

export type StoredWebhook = WebhookContent & {
  /** Never given twice. */
  webhookNo: number
  ownerNo: number
  webhookName: string
  /** Kept as it is: it signs. */
  secret: string
  /** The one before it signs as well until then. */
  oldSecret: string | null
  oldSecretUntil: number | null
  pausedBecause: PauseReason | null
  pausedAt: number | null
  lastDeliveredAt: number | null
  failingSince: number | null
  /** All events up to it are dealt with in this round: they do not match, or have a delivery. */
  cursor: number
  /** Grows with each replay of many. */
  round: number
  createdAt: number
  updatedAt: number
}

export type WebhookKey = { ownerNo: number; webhookName: string }

export type WebhookPut = WebhookKey & {
  content: WebhookContent
  /** Undefined keeps the one there is. */
  secret: string | undefined
  /** For one that is made without. */
  newSecret: string
  /** How long a secret that is replaced goes on to sign. */
  oldSecretUntil: number
  maxWebhooks: number
  at: number
}

export type StoredAttempt = { at: number; status: number | null; error: string | null; ms: number }

export type StoredDelivery = {
  eventId: number
  type: string
  state: DeliveryState
  /** The last ones, oldest first. */
  attempts: StoredAttempt[]
  nextAt: number | null
}

/** What waits for another attempt. */
export type PendingDelivery = {
  eventId: number
  type: string
  /** What the event tells of; see `subjectOf`. */
  subject: string
  /** Attempts that count for when to give up. */
  tries: number
  nextAt: number
}

export type AttemptResult = Omit<PendingDelivery, 'nextAt'> & {
  attempt: StoredAttempt
  state: DeliveryState
  nextAt: number | null
}

/** How far a webhook has come: results of attempts, and what follows from them. */
export type WebhookProgress = {
  webhookNo: number
  round: number
  cursor: number
  results: AttemptResult[]
  /** Undefined leaves these as they are. */
  lastDeliveredAt: number | undefined
  failingSince: number | null | undefined
  pause: { because: PauseReason; at: number } | undefined
}

export type WebhookStore = {
  /** A new one begins behind the newest event of this instant. 'too-many': there is no room for a new one. */
  putWebhook(put: WebhookPut): Promise<Put<StoredWebhook> | 'too-many'>
  getWebhook(key: WebhookKey): Promise<StoredWebhook | undefined>
  listWebhooks(list: OwnerList<string>): Promise<Sliced<StoredWebhook, string>>
  /** Gives the one that is gone. Its log is gone with it, or soon after. */
  deleteWebhook(key: WebhookKey): Promise<StoredWebhook | undefined>
  /** One that is paused stays as it is. */
  pauseWebhook(change: WebhookKey & { at: number }): Promise<StoredWebhook | undefined>
  /** Whatever waits is tried at once, and it counts as failing no more. */
  resumeWebhook(change: WebhookKey & { at: number }): Promise<StoredWebhook | undefined>
  setWebhookSecret(
    change: WebhookKey & { secret: string; oldSecretUntil: number; at: number },
  ): Promise<StoredWebhook | undefined>
  /** Begins a new round behind this event, or where it is if it has not come so far. */
  replayWebhook(replay: WebhookKey & { after: number; at: number }): Promise<StoredWebhook | undefined>

  /** Newest event first. Undefined: no such webhook. */
  listDeliveries(
    list: WebhookKey & { state: DeliveryState | undefined; slice: Slice<number> },
  ): Promise<Sliced<StoredDelivery, number> | undefined>
  /** It is PENDING and tried at once. Undefined: it was never tried, and does not match. */
  replayDelivery(replay: {
    webhookNo: number
    eventId: number
    type: string
    subject: string
    matches: boolean
    at: number
  }): Promise<StoredDelivery | undefined>

  /** The numbers of those that are not paused, of all owners. */
  listActiveWebhooks(): Promise<number[]>
  /** `lastTried`: no later event has a delivery. Undefined: there is none, or it is paused. */
  getActiveWebhook(webhook: {
    webhookNo: number
  }): Promise<{ webhook: StoredWebhook; lastTried: number } | undefined>
  /** Oldest event first. */
  listPendingDeliveries(list: {
    webhookNo: number
    slice: Slice<number>
  }): Promise<Sliced<PendingDelivery, number>>
  /** Which events in this range, both ends included, have a delivery of this round. */
  listTried(range: { webhookNo: number; round: number; from: number; to: number }): Promise<number[]>
  /** One that is gone is passed over. Of an earlier round only what has ended is noted. */
  recordAttempts(progress: WebhookProgress[]): Promise<void>
  /** Purges some of what tells of purged events or belonged to a deleted webhook; true while there may be more. */
  purgeDeliveries(): Promise<boolean>
}
