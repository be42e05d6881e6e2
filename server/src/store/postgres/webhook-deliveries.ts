// The log of what was sent to webhooks. It is also what a sender goes by after a restart.

import type { DeliveryState } from '@jobcast/contract'
import type {
  AttemptResult,
  PendingDelivery,
  StoredAttempt,
  StoredDelivery,
  WebhookProgress,
  WebhookStore,
} from '../../domain/webhook-store.ts'
import type { Database } from './database.ts'
import { numbers, type Queries, type Row, sliced } from './rows.ts'
import { findWebhook, PAUSE, SELECT_WEBHOOK, toWebhook } from './webhooks.ts'

const ACTIVE = 'SELECT webhook_no FROM webhook WHERE paused_because IS NULL'
const FIND_ACTIVE = `${SELECT_WEBHOOK} WHERE webhook_no = $1 AND paused_because IS NULL`
const SELECT = 'SELECT event_id, round, type, subject, state, tries, attempts, next_at FROM webhook_delivery'
const FIND = `${SELECT} WHERE webhook_no = $1 AND event_id = $2`
const FIND_ALL = `
  SELECT event_id, attempts FROM unnest($2::bigint[]) AS wanted (event_id) JOIN webhook_delivery USING (event_id)
  WHERE webhook_no = $1`
// The state stands in the text: a partial index serves only those who name its condition.
const list = (state?: DeliveryState) => `
  ${SELECT} WHERE webhook_no = $1 AND event_id < $2 ${state ? `AND state = '${state}'` : ''}
  ORDER BY event_id DESC LIMIT $3`
const PENDING = `
  ${SELECT} WHERE webhook_no = $1 AND event_id > $2 AND state = 'PENDING' ORDER BY event_id LIMIT $3`
const LAST_TRIED = 'SELECT max(event_id) AS event_id FROM webhook_delivery WHERE webhook_no = $1'
const TRIED = `
  SELECT event_id FROM webhook_delivery WHERE webhook_no = $1 AND event_id BETWEEN $2 AND $3 AND round = $4
  ORDER BY event_id`
const PUT = `
  INSERT INTO webhook_delivery (webhook_no, event_id, round, type, subject, state, tries, attempts, next_at)
  SELECT $1::int, event_id, $2::int, type, subject, state, tries, attempts, next_at
  FROM json_to_recordset($3::json) AS new (event_id bigint, type text, subject text, state text, tries int,
    attempts text, next_at bigint)
  ON CONFLICT (webhook_no, event_id) DO UPDATE SET round = excluded.round, state = excluded.state,
    tries = excluded.tries, attempts = excluded.attempts, next_at = excluded.next_at`
const LOCK_ROUND = 'SELECT round FROM webhook WHERE webhook_no = $1 FOR NO KEY UPDATE'
const ADVANCE = `
  UPDATE webhook SET cursor_id = CASE WHEN round = $2 THEN greatest(cursor_id, $3::bigint) ELSE cursor_id END,
    last_delivered_at = coalesce($4::bigint, last_delivered_at),
    failing_since = CASE WHEN $5::boolean THEN $6::bigint ELSE failing_since END
  WHERE webhook_no = $1`
const NEXT_LOG = 'SELECT min(webhook_no) AS webhook_no FROM webhook_delivery WHERE webhook_no > $1'
const FORGOTTEN = `
  SELECT forgotten_event_id FROM webhook JOIN owner USING (owner_no) WHERE webhook_no = $1`
const FORGET = `
  DELETE FROM webhook_delivery USING (
    SELECT event_id FROM webhook_delivery WHERE webhook_no = $1 AND event_id <= $2 ORDER BY event_id LIMIT $3) AS old
  WHERE webhook_no = $1 AND webhook_delivery.event_id = old.event_id RETURNING 1`

const attemptsKept = 20
const forgottenAtOnce = 1000

type DeliverySteps = Pick<
  WebhookStore,
  | 'listDeliveries'
  | 'replayDelivery'
  | 'listActiveWebhooks'
  | 'getActiveWebhook'
  | 'listPendingDeliveries'
  | 'listTried'
  | 'recordAttempts'
  | 'purgeDeliveries'
>

export function buildDeliverySteps(db: Database): DeliverySteps {
  return {
    listDeliveries: ({ state, slice: { after = Number.MAX_SAFE_INTEGER, limit }, ...key }) =>
      db.inSnapshot(async (reads) => {
        const webhook = await findWebhook(reads, key)
        if (webhook === undefined) return undefined
        const rows = await reads.query(list(state), [webhook.webhookNo, after, limit + 1])
        return sliced(rows.map(toDelivery), limit, (delivery) => delivery.eventId)
      }),
    replayDelivery: ({ webhookNo, eventId, type, subject, matches, at }) =>
      db.inTransaction(async (transaction) => {
        const [webhook] = await transaction.query(LOCK_ROUND, [webhookNo])
        const [row] = await transaction.query(FIND, [webhookNo, eventId])
        if (webhook === undefined || (row === undefined && !matches)) return undefined
        const attempts = (row?.attempts as string | undefined) ?? '[]'
        const put = { event_id: eventId, type, subject, state: 'PENDING', tries: 0, attempts, next_at: at }
        const [, found] = await Promise.all([
          transaction.query(PUT, [webhookNo, webhook.round, JSON.stringify([put])]),
          transaction.query(FIND, [webhookNo, eventId]),
        ])
        return toDelivery(found[0] as Row)
      }),
    async listActiveWebhooks() {
      return (await db.query(ACTIVE)).map((row) => row.webhook_no as number)
    },
    getActiveWebhook: ({ webhookNo }) =>
      db.inSnapshot(async (reads) => {
        const [row] = await reads.query(FIND_ACTIVE, [webhookNo])
        if (row === undefined) return undefined
        const [last] = await reads.query(LAST_TRIED, [webhookNo])
        return { webhook: toWebhook(row), lastTried: (last?.event_id as number | null) ?? 0 }
      }),
    async listPendingDeliveries({ webhookNo, slice: { after, limit } }) {
      const rows = await db.query(PENDING, [webhookNo, after ?? 0, limit + 1])
      return sliced(rows.map(toPending), limit, (delivery) => delivery.eventId)
    },
    async listTried({ webhookNo, round, from, to }) {
      const rows = await db.query(TRIED, [webhookNo, from, to, round])
      return rows.map((row) => row.event_id as number)
    },
    recordAttempts: (all) =>
      db.inTransaction(async (transaction) => {
        // In one order, so that two nodes do not wait for each other.
        for (const progress of all.toSorted((a, b) => a.webhookNo - b.webhookNo)) {
          await record(transaction, progress)
        }
      }),
    purgeDeliveries: () => db.inTransaction(purgeDeliveries),
  }
}

async function record(queries: Queries, progress: WebhookProgress): Promise<void> {
  const { webhookNo, round, cursor, lastDeliveredAt, failingSince, pause } = progress
  const [webhook] = await queries.query(LOCK_ROUND, [webhookNo])
  if (webhook === undefined) return
  // Of an earlier round only what has ended is noted.
  const results = progress.results.filter(({ state }) => webhook.round === round || state !== 'PENDING')
  if (results.length > 0) await recordResults(queries, webhookNo, round, results)
  const failing = [failingSince !== undefined, failingSince ?? null]
  await queries.query(ADVANCE, [webhookNo, round, cursor, lastDeliveredAt ?? null, ...failing])
  if (pause) await queries.query(PAUSE, [webhookNo, pause.because, pause.at])
}

/** The same event twice in a list has both attempts. */
async function recordResults(
  queries: Queries,
  webhookNo: number,
  round: number,
  results: AttemptResult[],
): Promise<void> {
  const found = await queries.query(FIND_ALL, [webhookNo, numbers(results.map(({ eventId }) => eventId))])
  const attempts = new Map(
    found.map((row) => [row.event_id as number, JSON.parse(row.attempts as string) as StoredAttempt[]]),
  )
  const puts = new Map<number, Row>()
  for (const { eventId, type, subject, state, tries, nextAt, attempt } of results) {
    const kept = [...(attempts.get(eventId) ?? []), attempt].slice(-attemptsKept)
    attempts.set(eventId, kept)
    const put = { event_id: eventId, type, subject, state, tries, next_at: nextAt }
    puts.set(eventId, { ...put, attempts: JSON.stringify(kept) })
  }
  await queries.query(PUT, [webhookNo, round, JSON.stringify([...puts.values()])])
}

async function purgeDeliveries(queries: Queries): Promise<boolean> {
  let left = forgottenAtOnce
  let no = 0
  while (left > 0) {
    const [log] = await queries.query(NEXT_LOG, [no])
    const webhookNo = log?.webhook_no as number | null
    if (webhookNo === null) return false
    const forgotten = await queries.query(FORGET, [webhookNo, await forgottenIn(queries, webhookNo), left])
    left -= forgotten.length
    no = webhookNo
  }
  return true
}

/** Up to which event the log of the webhook is forgotten: all of it once the webhook is gone. */
async function forgottenIn(queries: Queries, webhookNo: number): Promise<number> {
  const [row] = await queries.query(FORGOTTEN, [webhookNo])
  return row === undefined ? Number.MAX_SAFE_INTEGER : (row.forgotten_event_id as number)
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
