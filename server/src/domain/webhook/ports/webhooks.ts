// Webhooks and their deliveries, under the rules of store.ts.

import type { DeliveryState, PauseReason, WebhookFormat } from '@jobcast/contract'
import type { Maker } from '../../access/ports/makers.ts'
import type { Restriction } from '../../access/restriction.ts'
import type { ExpectedTags } from '../../common/entity-tag.ts'
import type { OwnerList, Put, Slice, Sliced } from '../../common/ports/slices.ts'

export type WebhookContent = {
  url: string
  /** Types and patterns such as `execution.*`; an empty list matches all. */
  eventTypes: string[]
  jobName: string | null
  deviceId: string | null
  format: WebhookFormat
}

export type StoredWebhook = WebhookContent &
  Maker & {
    /** Never reused. */
    webhookNo: number
    ownerNo: number
    ownerId: string
    webhookName: string
    /** Stored in plain text, because it is needed for signing. */
    secret: string
    /** The previous secret, which also signs until `oldSecretUntil`. */
    oldSecret: string | null
    oldSecretUntil: number | null
    /** Only events inside are sent. Set when it is created. */
    restriction: Restriction | null
    pausedBecause: PauseReason | null
    pausedAt: number | null
    lastDeliveredAt: number | null
    failingSince: number | null
    /** The last unsuccessful attempt, kept when later ones succeed. */
    lastFailure: AttemptFailure | null
    /** All events up to this one are processed in this round: each has a delivery or does not match. */
    cursor: number
    /** Incremented by each replay of events since an instant. */
    round: number
    createdAt: number
    updatedAt: number
  }

export type WebhookKey = { ownerNo: number; webhookName: string }

/** `principal`: who makes the change. */
export type WebhookChange = WebhookKey & { principal: string; at: number }

export type WebhookPut = WebhookKey & {
  content: WebhookContent
  /** For a new webhook; for an existing one, the event has the principal. */
  maker: Maker
  /** Undefined keeps the existing one. */
  secret: string | undefined
  /** For a new webhook without a given secret. */
  newSecret: string
  /** Until when a replaced secret also signs. */
  oldSecretUntil: number
  maxWebhooks: number
  at: number
  expected?: ExpectedTags
  /** Of the caller: for a new webhook; an existing one must be within it. */
  restriction: Restriction | null
  /** False: only an existing one can be put. */
  mayCreate: boolean
}

export type StoredAttempt = { at: number; status: number | null; error: string | null; ms: number }

export type AttemptFailure = { at: number; status: number | null; error: string }

export type StoredDelivery = {
  eventId: number
  type: string
  state: DeliveryState
  /** The latest ones, oldest first. */
  attempts: StoredAttempt[]
  nextAt: number | null
}

/** A delivery that is waiting for another attempt. */
type PendingDelivery = {
  eventId: number
  type: string
  /** The subject of the event; see `subjectOf`. */
  subject: string
  /** Attempts that count toward giving up. */
  tries: number
  nextAt: number
}

export type AttemptResult = Omit<PendingDelivery, 'nextAt'> & {
  attempt: StoredAttempt
  state: DeliveryState
  nextAt: number | null
}

/** The progress of a webhook: results of attempts, and the resulting state. */
export type WebhookProgress = {
  webhookNo: number
  round: number
  cursor: number
  results: AttemptResult[]
  /** Undefined: unchanged. */
  lastDeliveredAt: number | undefined
  failingSince: number | null | undefined
  pause: { because: PauseReason; at: number } | undefined
}

export type WebhookStore = {
  /** A new webhook starts after the newest event. 'too-many': the owner has `maxWebhooks` already. 'unknown': see `restriction` and `mayCreate`. */
  putWebhook(
    put: WebhookPut,
  ): Promise<(Put<StoredWebhook> & { changed: boolean }) | 'too-many' | 'not-expected' | 'unknown'>
  getWebhook(key: WebhookKey): Promise<StoredWebhook | undefined>
  listWebhooks(list: OwnerList<string>): Promise<Sliced<StoredWebhook, string>>
  /** Returns the deleted webhook. Its delivery log is deleted with it, or soon after. */
  deleteWebhook(change: WebhookChange): Promise<StoredWebhook | undefined>
  /** Idempotent. */
  pauseWebhook(change: WebhookChange): Promise<StoredWebhook | undefined>
  /** Pending deliveries are attempted at once, and the webhook no longer counts as failing. */
  resumeWebhook(change: WebhookChange): Promise<StoredWebhook | undefined>
  setWebhookSecret(
    change: WebhookChange & { secret: string; oldSecretUntil: number },
  ): Promise<StoredWebhook | undefined>
  /** Starts a new round after this event, or at the current cursor if that is earlier. */
  replayWebhook(replay: WebhookChange & { after: number }): Promise<StoredWebhook | undefined>

  /** Newest event first. Undefined: no such webhook. */
  listDeliveries(
    list: WebhookKey & { state: DeliveryState | undefined; slice: Slice<number> },
  ): Promise<Sliced<StoredDelivery, number> | undefined>
  /** Makes the delivery PENDING and due at once. Undefined: it was never attempted, and does not match. */
  replayDelivery(replay: {
    webhookNo: number
    eventId: number
    type: string
    subject: string
    matches: boolean
    at: number
  }): Promise<StoredDelivery | undefined>

  /** All webhooks that are not paused, of all owners, and when each was changed last. */
  listActiveWebhooks(): Promise<{ webhookNo: number; updatedAt: number }[]>
  /** `lastTried`: no later event has a delivery. Undefined: deleted or paused. */
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
  /** Whether an execution has a delivery of this round that stands for its run: one whose subject is the run. */
  isRunReported(of: { webhookNo: number; round: number; runId: number }): Promise<boolean>
  /** Deleted webhooks are skipped. For an earlier round, only ended deliveries are recorded. */
  recordAttempts(progress: WebhookProgress[]): Promise<void>
  /** Purges a batch of deliveries of purged events or deleted webhooks; true while there may be more. */
  purgeDeliveries(): Promise<boolean>
}
