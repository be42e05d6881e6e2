// The delivery log of webhooks, from which senders continue after a restart.

import type { DeliveryState } from '@jobcast/contract'
import { service } from '../../domain/access/principal.ts'
import type {
  AttemptFailure,
  AttemptResult,
  StoredAttempt,
  WebhookProgress,
} from '../../domain/webhook/ports/webhooks.ts'
import { inBoth, type Queries, type Sql, sliced, type Writes } from '../queries.ts'
import { notNull, number, orNull, rows, select } from '../schema/column.ts'
import { delivery, owner, webhook } from '../schema/tables.ts'
import { partOf } from '../statement.ts'
import type { ReadSteps, WriteSteps } from './step.ts'
import { findWebhook, PAUSE, recordEvent, WEBHOOK } from './webhooks.ts'

const { eventId, round, type, subject, state, tries, attempts, nextAt } = delivery.fields
const DELIVERY = select({ eventId, type, state, attempts, nextAt })
// A pending delivery has a time of the next attempt.
const PENDING_DELIVERY = select({ eventId, type, subject, tries, nextAt: notNull(nextAt) })
const EVENT = rows({ eventId })
const ROUND = rows({ round, ownerNo: webhook.fields.ownerNo, webhookName: webhook.fields.webhookName })
const LATEST = rows({ eventId: orNull(number()) })

// Few deliveries are pending or failed. The statement contains the state, because a partial index is only used with its condition.
const list = (state?: DeliveryState, index?: string): Sql =>
  inBoth(
    ({ by }) => `
  SELECT ${DELIVERY} FROM webhook_delivery ${index ? by(index) : ''}
  WHERE webhook_no = :webhookNo AND event_id < :after ${state ? `AND state = '${state}'` : ''}
  ORDER BY event_id DESC LIMIT :limit`,
  )
const LISTS = {
  all: list(),
  PENDING: list('PENDING', 'webhook_delivery_pending'),
  DELIVERED: list('DELIVERED'),
  FAILED: list('FAILED', 'webhook_delivery_failed'),
}
const PENDING = inBoth(
  ({ by }) => `
  SELECT ${PENDING_DELIVERY} FROM webhook_delivery ${by('webhook_delivery_pending')}
  WHERE webhook_no = :webhookNo AND event_id > :after AND state = 'PENDING' ORDER BY event_id LIMIT :limit`,
)
const FIND_ACTIVE =
  `SELECT ${WEBHOOK} FROM webhook WHERE webhook_no = :webhookNo AND paused_because IS NULL` as const
const LAST_TRIED = 'SELECT max(event_id) AS "eventId" FROM webhook_delivery WHERE webhook_no = :webhookNo'
const TRIED = `
  SELECT event_id AS "eventId" FROM webhook_delivery
  WHERE webhook_no = :webhookNo AND event_id BETWEEN :from AND :to AND round = :round ORDER BY event_id`
// Only used for chat webhooks, whose logs are short.
const REPORTED = `
  SELECT min(event_id) AS "eventId" FROM webhook_delivery
  WHERE webhook_no = :webhookNo AND round = :round AND subject = :subject AND type LIKE 'execution.%'` as const

const FIND =
  `SELECT ${DELIVERY} FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id = :eventId` as const
const FIND_ALL = inBoth(
  ({ isIn }) => `
  SELECT ${DELIVERY} FROM webhook_delivery
  WHERE webhook_no = :webhookNo AND ${isIn('event_id', 'eventIds', 'bigint')}`,
)
const PUT = inBoth(
  ({ records }) => `
  INSERT INTO webhook_delivery (webhook_no, event_id, round, type, subject, state, tries, attempts, next_at)
  SELECT CAST(:webhookNo AS integer), "eventId", CAST(:round AS integer), type, subject, state, tries, attempts, "nextAt"
  FROM ${records('puts', { eventId, type, subject, state, tries, attempts, nextAt })} WHERE true
  ON CONFLICT (webhook_no, event_id) DO UPDATE SET round = excluded.round, state = excluded.state,
    tries = excluded.tries, attempts = excluded.attempts, next_at = excluded.next_at`,
)
const LOCK_ROUND = inBoth(
  ({ lock }) => `
  SELECT round, owner_no AS "ownerNo", webhook_name AS "webhookName" FROM webhook
  WHERE webhook_no = :webhookNo ${lock}`,
)
const ADVANCE = inBoth(
  ({ greatest }) => `
  UPDATE webhook SET
    cursor_id = CASE WHEN round = :round THEN ${greatest}(cursor_id, CAST(:cursor AS bigint)) ELSE cursor_id END,
    last_delivered_at = coalesce(:lastDeliveredAt, last_delivered_at),
    last_failure = coalesce(:lastFailure, last_failure)
  WHERE webhook_no = :webhookNo`,
)
const FAILING = 'UPDATE webhook SET failing_since = :failingSince WHERE webhook_no = :webhookNo'

const NEXT_LOG = 'SELECT min(webhook_no) AS "webhookNo" FROM webhook_delivery WHERE webhook_no > :webhookNo'
const PURGED = `
  SELECT ${select({ purgedEventId: owner.fields.purgedEventId })} FROM webhook JOIN owner USING (owner_no)
  WHERE webhook_no = :webhookNo` as const
const PURGE = `
  DELETE FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id IN (
    SELECT event_id FROM webhook_delivery WHERE webhook_no = :webhookNo AND event_id <= :upTo
    ORDER BY event_id LIMIT :limit)`

const attemptsKept = 20
const purgedAtOnce = 1000

export const deliveryReads: ReadSteps<'listPendingDeliveries' | 'listTried' | 'isRunReported'> = {
  async listPendingDeliveries(queries, { webhookNo, slice: { after = 0, limit } }) {
    const found = await queries.all(PENDING_DELIVERY, PENDING, { webhookNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ eventId }) => eventId)
  },
  async listTried(queries, range) {
    return (await queries.all(EVENT, TRIED, partOf(TRIED, range))).map(({ eventId }) => eventId)
  },
  async isRunReported(queries, { webhookNo, round, runId }) {
    const found = await queries.one(LATEST, REPORTED, { webhookNo, round, subject: `run ${runId}` })
    return found.eventId !== null
  },
}

export const deliverySnapshots: ReadSteps<'listDeliveries' | 'getActiveWebhook'> = {
  async listDeliveries(queries, { state, slice: { after = Number.MAX_SAFE_INTEGER, limit }, ...key }) {
    const webhook = await findWebhook(queries, key)
    if (webhook === undefined) return undefined
    const { webhookNo } = webhook
    const found = await queries.all(DELIVERY, LISTS[state ?? 'all'], { webhookNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ eventId }) => eventId)
  },
  async getActiveWebhook(queries, { webhookNo }) {
    const webhook = await queries.get(WEBHOOK, FIND_ACTIVE, { webhookNo })
    if (webhook === undefined) return undefined
    const latest = await queries.one(LATEST, LAST_TRIED, { webhookNo })
    return { webhook, lastTried: latest.eventId ?? 0 }
  },
}

export const deliveryWrites: WriteSteps<'replayDelivery' | 'recordAttempts' | 'purgeDeliveries'> = {
  async replayDelivery(queries, { webhookNo, eventId, type, subject, matches, at }) {
    const webhook = await queries.get(ROUND, LOCK_ROUND, { webhookNo })
    const before = await queries.get(DELIVERY, FIND, { webhookNo, eventId })
    if (webhook === undefined || (before === undefined && !matches)) return undefined
    const attempts = JSON.stringify(before?.attempts ?? [])
    const put = { eventId, type, subject, state: 'PENDING', tries: 0, attempts, nextAt: at }
    await queries.run(PUT, { webhookNo, round: webhook.round, puts: [put] })
    const { ownerNo, webhookName } = webhook
    const replayed = {
      action: 'delivery.replayed',
      subject: `webhook:${webhookName}`,
      note: `event ${eventId}`,
    }
    queries.audited({ ownerNo, at, ...replayed })
    return queries.one(DELIVERY, FIND, { webhookNo, eventId })
  },
  async recordAttempts(queries, all) {
    // Always in the same order, to prevent deadlocks between nodes.
    for (const progress of all.toSorted((a, b) => a.webhookNo - b.webhookNo)) await record(queries, progress)
  },
  async purgeDeliveries(queries) {
    let left = purgedAtOnce
    let last = 0
    while (left > 0) {
      const { webhookNo } = await queries.one(NEXT, NEXT_LOG, { webhookNo: last })
      if (webhookNo === null) return false
      left -= await queries.run(PURGE, { webhookNo, upTo: await purgedIn(queries, webhookNo), limit: left })
      last = webhookNo
    }
    return true
  },
}

const NEXT = rows({ webhookNo: orNull(webhook.fields.webhookNo) })

async function record(queries: Writes, progress: WebhookProgress): Promise<void> {
  const { webhookNo, round, cursor, lastDeliveredAt = null, failingSince, pause } = progress
  const webhook = await queries.get(ROUND, LOCK_ROUND, { webhookNo })
  if (webhook === undefined) return
  // Of an earlier round, only ended deliveries are recorded.
  const results = progress.results.filter(({ state }) => webhook.round === round || state !== 'PENDING')
  if (results.length > 0) await recordResults(queries, webhookNo, round, results)
  const lastFailure = lastFailureOf(progress.results)
  await queries.run(ADVANCE, { webhookNo, round, cursor, lastDeliveredAt, lastFailure })
  if (failingSince !== undefined) await queries.run(FAILING, { webhookNo, failingSince })
  if (pause && (await queries.run(PAUSE, { webhookNo, ...pause })) > 0) {
    const by = { principal: service, at: pause.at }
    recordEvent(queries, webhook, 'webhook.updated', { ...by, change: 'paused' })
  }
}

/** Results are in the order in which they were recorded. */
function lastFailureOf(results: readonly AttemptResult[]): string | null {
  for (const { attempt } of results.toReversed()) {
    const { at, status, error } = attempt
    if (error !== null) return JSON.stringify({ at, status, error } satisfies AttemptFailure)
  }
  return null
}

/** If an event occurs twice in the list, both attempts are stored. */
async function recordResults(
  queries: Queries,
  webhookNo: number,
  round: number,
  results: AttemptResult[],
): Promise<void> {
  const eventIds = results.map(({ eventId }) => eventId)
  const found = await queries.all(DELIVERY, FIND_ALL, { webhookNo, eventIds })
  const attempts = new Map<number, StoredAttempt[]>(found.map((each) => [each.eventId, each.attempts]))
  const puts = new Map<number, object>()
  for (const { attempt, ...result } of results) {
    const kept = [...(attempts.get(result.eventId) ?? []), attempt].slice(-attemptsKept)
    attempts.set(result.eventId, kept)
    puts.set(result.eventId, { ...result, attempts: JSON.stringify(kept) })
  }
  await queries.run(PUT, { webhookNo, round, puts: [...puts.values()] })
}

/** The last event whose delivery may be purged; all of them once the webhook is deleted. */
async function purgedIn(queries: Queries, webhookNo: number): Promise<number> {
  const row = await queries.get(rows({ purgedEventId: number() }), PURGED, { webhookNo })
  return row?.purgedEventId ?? Number.MAX_SAFE_INTEGER
}
