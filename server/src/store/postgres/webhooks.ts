import type { PauseReason } from '@jobcast/contract'
import type { StoredWebhook, WebhookKey, WebhookPut, WebhookStore } from '../../domain/webhook-store.ts'
import type { Database } from './database.ts'
import { type Queries, type Row, sliced } from './rows.ts'

export const SELECT_WEBHOOK = `
  SELECT webhook_no, owner_no, webhook_name, url, event_types, job_name, device_id, secret, old_secret,
    old_secret_until, paused_because, paused_at, last_delivered_at, failing_since, cursor_id, round, created_at,
    updated_at
  FROM webhook`
const FIND = `${SELECT_WEBHOOK} WHERE owner_no = $1 AND webhook_name = $2`
const LOCK = `${FIND} FOR NO KEY UPDATE`
const LIST = `${SELECT_WEBHOOK} WHERE owner_no = $1 AND webhook_name > $2 ORDER BY webhook_name LIMIT $3`
// One at a time makes a webhook of an owner's, so that they can be counted.
const LOCK_OWNER = 'SELECT FROM owner WHERE owner_no = $1 FOR NO KEY UPDATE'
const COUNT = 'SELECT count(*)::int AS count FROM webhook WHERE owner_no = $1'
const INSERT = `
  INSERT INTO webhook (owner_no, webhook_name, url, event_types, job_name, device_id, secret, cursor_id, created_at,
    updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce((SELECT max(event_id) FROM event WHERE owner_no = $1), 0), $8, $8)`
const UPDATE = `
  UPDATE webhook SET url = $2, event_types = $3, job_name = $4, device_id = $5, updated_at = $6 WHERE webhook_no = $1`
const SET_SECRET = `
  UPDATE webhook SET old_secret = secret, old_secret_until = $3, secret = $2, updated_at = $4 WHERE webhook_no = $1`
export const PAUSE = `
  UPDATE webhook SET paused_because = $2, paused_at = $3::bigint, updated_at = $3
  WHERE webhook_no = $1 AND paused_because IS NULL`
const RESUME = `
  UPDATE webhook SET paused_because = NULL, paused_at = NULL, failing_since = NULL, updated_at = $2
  WHERE webhook_no = $1`
const TRY_NOW = `
  UPDATE webhook_delivery SET next_at = $2::bigint WHERE webhook_no = $1 AND state = 'PENDING' AND next_at > $2`
const NEXT_ROUND = `
  UPDATE webhook SET cursor_id = least(cursor_id, $2), round = round + 1, updated_at = $3 WHERE webhook_no = $1`
// What is pending behind the place where a round begins is read again with all the others there.
const DROP_PENDING = `
  DELETE FROM webhook_delivery
  WHERE webhook_no = $1 AND state = 'PENDING'
    AND event_id > (SELECT cursor_id FROM webhook WHERE webhook_no = $1)`
const DELETE = 'DELETE FROM webhook WHERE webhook_no = $1'

type WebhookSteps = Pick<
  WebhookStore,
  | 'putWebhook'
  | 'getWebhook'
  | 'listWebhooks'
  | 'deleteWebhook'
  | 'pauseWebhook'
  | 'resumeWebhook'
  | 'setWebhookSecret'
  | 'replayWebhook'
>

export function buildWebhookSteps(db: Database): WebhookSteps {
  /** Gives it as it is after the change; undefined: there is none. */
  const change = (key: WebhookKey, write: (queries: Queries, webhook: StoredWebhook) => Promise<unknown>) =>
    db.inTransaction((transaction) => changeWebhook(transaction, key, write))

  return {
    putWebhook: (put) =>
      db.inTransaction(async (transaction) => {
        const { ownerNo, webhookName, at, content } = put
        await transaction.query(LOCK_OWNER, [ownerNo])
        const changed = await changeWebhook(transaction, put, (queries, webhook) =>
          update(queries, webhook, put),
        )
        if (changed) return { created: false, value: changed }
        const [row] = await transaction.query(COUNT, [ownerNo])
        if ((row?.count as number) >= put.maxWebhooks) return 'too-many'
        const { url, eventTypes, jobName, deviceId } = content
        const secret = put.secret ?? put.newSecret
        const values = [url, JSON.stringify(eventTypes), jobName, deviceId, secret, at]
        await transaction.query(INSERT, [ownerNo, webhookName, ...values])
        return { created: true, value: (await findWebhook(transaction, put)) as StoredWebhook }
      }),
    getWebhook: (key) => findWebhook(db, key),
    async listWebhooks({ ownerNo, slice: { after, limit } }) {
      const rows = await db.query(LIST, [ownerNo, after ?? '', limit + 1])
      return sliced(rows.map(toWebhook), limit, (webhook) => webhook.webhookName)
    },
    deleteWebhook: (key) =>
      db.inTransaction(async (transaction) => {
        const webhook = await findWebhook(transaction, key, LOCK)
        if (webhook) await transaction.query(DELETE, [webhook.webhookNo])
        return webhook
      }),
    pauseWebhook: ({ at, ...key }) =>
      change(key, (queries, { webhookNo }) => queries.query(PAUSE, [webhookNo, 'owner', at])),
    resumeWebhook: ({ at, ...key }) =>
      change(key, (queries, { webhookNo }) =>
        Promise.all([queries.query(RESUME, [webhookNo, at]), queries.query(TRY_NOW, [webhookNo, at])]),
      ),
    setWebhookSecret: ({ secret, oldSecretUntil, at, ...key }) =>
      change(key, (queries, { webhookNo }) =>
        queries.query(SET_SECRET, [webhookNo, secret, oldSecretUntil, at]),
      ),
    replayWebhook: ({ after, at, ...key }) =>
      change(key, (queries, { webhookNo }) =>
        Promise.all([
          queries.query(NEXT_ROUND, [webhookNo, after, at]),
          queries.query(DROP_PENDING, [webhookNo]),
        ]),
      ),
  }
}

async function changeWebhook(
  queries: Queries,
  key: WebhookKey,
  write: (queries: Queries, webhook: StoredWebhook) => Promise<unknown>,
): Promise<StoredWebhook | undefined> {
  const webhook = await findWebhook(queries, key, LOCK)
  if (webhook === undefined) return undefined
  await write(queries, webhook)
  return findWebhook(queries, key)
}

async function update(
  queries: Queries,
  { webhookNo, secret: before }: StoredWebhook,
  put: WebhookPut,
): Promise<void> {
  const { secret, oldSecretUntil, at } = put
  const { url, eventTypes, jobName, deviceId } = put.content
  await queries.query(UPDATE, [webhookNo, url, JSON.stringify(eventTypes), jobName, deviceId, at])
  if (secret !== undefined && secret !== before) {
    await queries.query(SET_SECRET, [webhookNo, secret, oldSecretUntil, at])
  }
}

export async function findWebhook(
  queries: Queries,
  { ownerNo, webhookName }: WebhookKey,
  sql = FIND,
): Promise<StoredWebhook | undefined> {
  const [row] = await queries.query(sql, [ownerNo, webhookName])
  return row && toWebhook(row)
}

export function toWebhook(row: Row): StoredWebhook {
  return {
    webhookNo: row.webhook_no as number,
    ownerNo: row.owner_no as number,
    webhookName: row.webhook_name as string,
    url: row.url as string,
    eventTypes: JSON.parse(row.event_types as string),
    jobName: row.job_name as string | null,
    deviceId: row.device_id as string | null,
    secret: row.secret as string,
    oldSecret: row.old_secret as string | null,
    oldSecretUntil: row.old_secret_until as number | null,
    pausedBecause: row.paused_because as PauseReason | null,
    pausedAt: row.paused_at as number | null,
    lastDeliveredAt: row.last_delivered_at as number | null,
    failingSince: row.failing_since as number | null,
    cursor: row.cursor_id as number,
    round: row.round as number,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  }
}
