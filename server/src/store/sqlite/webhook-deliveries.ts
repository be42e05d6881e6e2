// The log of what was sent to webhooks. It is also what a sender goes by after a restart.

import type { DatabaseSync } from 'node:sqlite'
import type { DeliveryState } from '@jobcast/contract'
import type { Slice, Sliced } from '../../domain/store.ts'
import type {
  AttemptResult,
  PendingDelivery,
  StoredAttempt,
  StoredDelivery,
  StoredWebhook,
  WebhookKey,
  WebhookProgress,
} from '../../domain/webhook-store.ts'
import { type Row, sliced } from './rows.ts'
import type { prepareWebhooks } from './webhooks.ts'

const SELECT = 'SELECT event_id, round, type, subject, state, tries, attempts, next_at FROM webhook_delivery'
const FIND = `${SELECT} WHERE webhook_no = ? AND event_id = ?`
// Few are pending, few have failed; SQLite alone would look at all of the log.
const BY_PENDING = 'INDEXED BY webhook_delivery_pending'
const BY_FAILED = 'INDEXED BY webhook_delivery_failed'
const list = (state?: DeliveryState, by = '') => `
  ${SELECT} ${by} WHERE webhook_no = ? AND event_id < ? ${state ? `AND state = '${state}'` : ''}
  ORDER BY event_id DESC LIMIT ?`
const PENDING = `
  ${SELECT} ${BY_PENDING} WHERE webhook_no = ? AND event_id > ? AND state = 'PENDING' ORDER BY event_id LIMIT ?`
const LAST_TRIED = 'SELECT max(event_id) AS event_id FROM webhook_delivery WHERE webhook_no = ?'
const TRIED = `
  SELECT event_id FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id BETWEEN :from AND :to
    AND round = :round`
const PUT = `
  INSERT INTO webhook_delivery (webhook_no, event_id, round, type, subject, state, tries, attempts, next_at)
  VALUES (:webhookNo, :eventId, :round, :type, :subject, :state, :tries, :attempts, :nextAt)
  ON CONFLICT DO UPDATE SET round = excluded.round, state = excluded.state, tries = excluded.tries,
    attempts = excluded.attempts, next_at = excluded.next_at`
const ROUND = 'SELECT round FROM webhook WHERE webhook_no = ?'
const ADVANCE = `
  UPDATE webhook SET cursor_id = max(cursor_id, :cursor) WHERE webhook_no = :webhookNo AND round = :round`
const DELIVERED = 'UPDATE webhook SET last_delivered_at = :at WHERE webhook_no = :webhookNo'
const FAILING = 'UPDATE webhook SET failing_since = :since WHERE webhook_no = :webhookNo'
const NEXT_LOG = 'SELECT min(webhook_no) AS webhook_no FROM webhook_delivery WHERE webhook_no > ?'
const FORGOTTEN = `
  SELECT forgotten_event_id FROM webhook JOIN owner USING (owner_no) WHERE webhook_no = ?`
const FORGET = `
  DELETE FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id IN (
    SELECT event_id FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id <= :upTo
    ORDER BY event_id LIMIT :limit)`

const attemptsKept = 20
const forgottenAtOnce = 1000

type Webhooks = Pick<ReturnType<typeof prepareWebhooks>, 'getWebhook' | 'findActiveWebhook' | 'pauseByNo'>

export function prepareDeliveryLog(db: DatabaseSync, webhooks: Webhooks) {
  const lists = {
    all: db.prepare(list()),
    PENDING: db.prepare(list('PENDING', BY_PENDING)),
    DELIVERED: db.prepare(list('DELIVERED')),
    FAILED: db.prepare(list('FAILED', BY_FAILED)),
  }
  const pending = db.prepare(PENDING)
  const lastTried = db.prepare(LAST_TRIED)
  const tried = db.prepare(TRIED)

  return {
    listDeliveries(
      input: WebhookKey & { state: DeliveryState | undefined; slice: Slice<number> },
    ): Sliced<StoredDelivery, number> | undefined {
      const webhook = webhooks.getWebhook(input)
      if (webhook === undefined) return undefined
      const { after = Number.MAX_SAFE_INTEGER, limit } = input.slice
      const rows = lists[input.state ?? 'all'].all(webhook.webhookNo, after, limit + 1)
      return sliced(rows.map(toDelivery), limit, (delivery) => delivery.eventId)
    },
    getActiveWebhook(webhookNo: number): { webhook: StoredWebhook; lastTried: number } | undefined {
      const webhook = webhooks.findActiveWebhook(webhookNo)
      if (webhook === undefined) return undefined
      return { webhook, lastTried: (lastTried.get(webhookNo)?.event_id as number | null) ?? 0 }
    },
    listPendingDeliveries(input: {
      webhookNo: number
      slice: Slice<number>
    }): Sliced<PendingDelivery, number> {
      const { after, limit } = input.slice
      const rows = pending.all(input.webhookNo, after ?? 0, limit + 1)
      return sliced(rows.map(toPending), limit, (delivery) => delivery.eventId)
    },
    listTried(input: { webhookNo: number; round: number; from: number; to: number }): number[] {
      return tried.all(input).map((row) => row.event_id as number)
    },
  }
}

export function prepareDeliveryWrites(db: DatabaseSync, webhooks: Webhooks) {
  const find = db.prepare(FIND)
  const put = db.prepare(PUT)
  const findRound = db.prepare(ROUND)
  const advance = db.prepare(ADVANCE)
  const delivered = db.prepare(DELIVERED)
  const failing = db.prepare(FAILING)
  const nextLog = db.prepare(NEXT_LOG)
  const forgotten = db.prepare(FORGOTTEN)
  const forget = db.prepare(FORGET)

  function recordResult(webhookNo: number, round: number, result: AttemptResult): void {
    const { attempt, ...fields } = result
    const row = find.get(webhookNo, result.eventId)
    const attempts = [...(row ? toDelivery(row).attempts : []), attempt].slice(-attemptsKept)
    put.run({ webhookNo, round, ...fields, attempts: JSON.stringify(attempts) })
  }

  function record(progress: WebhookProgress): void {
    const { webhookNo, round, cursor, results, lastDeliveredAt, failingSince, pause } = progress
    const current = findRound.get(webhookNo)?.round
    if (current === undefined) return
    const isCurrent = current === round
    for (const result of results) {
      if (isCurrent || result.state !== 'PENDING') recordResult(webhookNo, round, result)
    }
    advance.run({ webhookNo, round, cursor })
    if (lastDeliveredAt !== undefined) delivered.run({ webhookNo, at: lastDeliveredAt })
    if (failingSince !== undefined) failing.run({ webhookNo, since: failingSince })
    if (pause) webhooks.pauseByNo({ webhookNo, ...pause })
  }

  /** Up to which event the log of the webhook is forgotten: all of it once the webhook is gone. */
  function forgottenIn(webhookNo: number): number {
    const row = forgotten.get(webhookNo)
    return row === undefined ? Number.MAX_SAFE_INTEGER : (row.forgotten_event_id as number)
  }

  return {
    recordAttempts(all: WebhookProgress[]): void {
      for (const progress of all) record(progress)
    },
    replayDelivery(input: {
      webhookNo: number
      eventId: number
      type: string
      subject: string
      matches: boolean
      at: number
    }): StoredDelivery | undefined {
      const { webhookNo, eventId, type, subject, matches, at } = input
      const round = findRound.get(webhookNo)?.round
      const row = find.get(webhookNo, eventId)
      if (round === undefined || (row === undefined && !matches)) return undefined
      const attempts = (row?.attempts as string) ?? '[]'
      const state = 'PENDING'
      put.run({ webhookNo, eventId, round, type, subject, state, tries: 0, attempts, nextAt: at })
      return toDelivery(find.get(webhookNo, eventId) as Row)
    },
    purgeDeliveries(_?: undefined): boolean {
      let left = forgottenAtOnce
      let no = 0
      while (left > 0) {
        const webhookNo = nextLog.get(no)?.webhook_no as number | null
        if (webhookNo === null) return false
        left -= Number(forget.run({ webhookNo, upTo: forgottenIn(webhookNo), limit: left }).changes)
        no = webhookNo
      }
      return true
    },
  }
}

function toDelivery(row: Row): StoredDelivery {
  return {
    eventId: row.event_id as number,
    type: row.type as string,
    state: row.state as DeliveryState,
    attempts: JSON.parse(row.attempts as string) as StoredAttempt[],
    nextAt: row.next_at as number | null,
  }
}

function toPending(row: Row): PendingDelivery {
  return {
    eventId: row.event_id as number,
    type: row.type as string,
    subject: row.subject as string,
    tries: row.tries as number,
    nextAt: row.next_at as number,
  }
}
