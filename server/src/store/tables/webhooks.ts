import type { StoredWebhook, WebhookContent, WebhookKey } from '../../domain/ports/webhooks.ts'
import { inBoth, type Queries, sliced } from '../queries.ts'
import { number, rows, select } from '../schema/column.ts'
import { webhook } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

export const WEBHOOK = select(webhook.fields)
const FIND = `SELECT ${WEBHOOK} FROM webhook WHERE owner_no = :ownerNo AND webhook_name = :webhookName`
const LOCK = inBoth(({ lock }) => `${FIND} ${lock}`)
const LIST = `
  SELECT ${WEBHOOK} FROM webhook WHERE owner_no = :ownerNo AND webhook_name > :after
  ORDER BY webhook_name LIMIT :limit`
const ACTIVE_WEBHOOK = select(webhook.pick('webhookNo', 'updatedAt'))
const ACTIVE = `SELECT ${ACTIVE_WEBHOOK} FROM webhook WHERE paused_because IS NULL`
// One at a time makes a webhook of an owner's, so that they can be counted.
const LOCK_OWNER = inBoth(({ is, lock }) =>
  is === 'postgres' ? `SELECT 1 FROM owner WHERE owner_no = :ownerNo ${lock}` : '',
)
const COUNT = 'SELECT count(*) AS count FROM webhook WHERE owner_no = :ownerNo'
const INSERT = `
  INSERT INTO webhook (owner_no, webhook_name, url, event_types, job_name, device_id, secret, cursor_id, created_at,
    updated_at)
  VALUES (:ownerNo, :webhookName, :url, :eventTypes, :jobName, :deviceId, :secret,
    coalesce((SELECT max(event_id) FROM event WHERE owner_no = :ownerNo), 0), :at, :at)`
const UPDATE = `
  UPDATE webhook SET url = :url, event_types = :eventTypes, job_name = :jobName, device_id = :deviceId, updated_at = :at
  WHERE webhook_no = :webhookNo`
const SET_SECRET = `
  UPDATE webhook SET old_secret = secret, old_secret_until = :oldSecretUntil, secret = :secret, updated_at = :at
  WHERE webhook_no = :webhookNo`
/** One that is paused already stays as it is. */
export const PAUSE = `
  UPDATE webhook SET paused_because = :because, paused_at = :at, updated_at = :at
  WHERE webhook_no = :webhookNo AND paused_because IS NULL`
const RESUME = `
  UPDATE webhook SET paused_because = NULL, paused_at = NULL, failing_since = NULL, updated_at = :at
  WHERE webhook_no = :webhookNo`
// Few are pending of many.
const TRY_NOW = inBoth(
  ({ by }) => `
  UPDATE webhook_delivery ${by('webhook_delivery_pending')} SET next_at = :at
  WHERE webhook_no = :webhookNo AND state = 'PENDING' AND next_at > :at`,
)
const NEXT_ROUND = inBoth(
  ({ least }) => `
  UPDATE webhook SET cursor_id = ${least}(cursor_id, :after), round = round + 1, updated_at = :at
  WHERE webhook_no = :webhookNo`,
)
// What is pending behind the event where a round begins is read again with all the others there.
const DROP_PENDING = inBoth(
  ({ by }) => `
  DELETE FROM webhook_delivery ${by('webhook_delivery_pending')}
  WHERE webhook_no = :webhookNo AND state = 'PENDING'
    AND event_id > (SELECT cursor_id FROM webhook WHERE webhook_no = :webhookNo)`,
)
const DELETE = 'DELETE FROM webhook WHERE webhook_no = :webhookNo'

export const webhookReads: ReadSteps<'getWebhook' | 'listWebhooks' | 'listActiveWebhooks'> = {
  getWebhook: findWebhook,
  async listWebhooks(queries, { ownerNo, slice: { after = '', limit } }) {
    const found = await queries.all(WEBHOOK, LIST, { ownerNo, after, limit: limit + 1 })
    return sliced(found, limit, ({ webhookName }) => webhookName)
  },
  listActiveWebhooks: (queries) => queries.all(ACTIVE_WEBHOOK, ACTIVE),
}

type WebhookWrites = WriteSteps<
  'putWebhook' | 'deleteWebhook' | 'pauseWebhook' | 'resumeWebhook' | 'setWebhookSecret' | 'replayWebhook'
>

export const webhookWrites: WebhookWrites = {
  async putWebhook(queries, put) {
    const { ownerNo, webhookName, secret, oldSecretUntil, at } = put
    const values = { ownerNo, at, ...valuesOf(put.content) }
    await queries.run(LOCK_OWNER, { ownerNo })
    const changed = await change(queries, put, async ({ webhookNo, secret: before }) => {
      await queries.run(UPDATE, { ...values, webhookNo })
      if (secret === undefined || secret === before) return
      await queries.run(SET_SECRET, { webhookNo, secret, oldSecretUntil, at })
    })
    if (changed) return { created: false, value: changed }
    const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
    if (count >= put.maxWebhooks) return 'too-many'
    await queries.run(INSERT, { ...values, webhookName, secret: secret ?? put.newSecret })
    return { created: true, value: await queries.one(WEBHOOK, FIND, { ownerNo, webhookName }) }
  },
  async deleteWebhook(queries, { ownerNo, webhookName }) {
    const webhook = await queries.get(WEBHOOK, LOCK, { ownerNo, webhookName })
    if (webhook) await queries.run(DELETE, { webhookNo: webhook.webhookNo })
    return webhook
  },
  pauseWebhook: (queries, { at, ...key }) =>
    change(queries, key, ({ webhookNo }) => queries.run(PAUSE, { webhookNo, because: 'owner', at })),
  resumeWebhook: (queries, { at, ...key }) =>
    change(queries, key, ({ webhookNo }) =>
      Promise.all([queries.run(RESUME, { webhookNo, at }), queries.run(TRY_NOW, { webhookNo, at })]),
    ),
  setWebhookSecret: (queries, { secret, oldSecretUntil, at, ...key }) =>
    change(queries, key, ({ webhookNo }) =>
      queries.run(SET_SECRET, { webhookNo, secret, oldSecretUntil, at }),
    ),
  replayWebhook: (queries, { after, at, ...key }) =>
    change(queries, key, ({ webhookNo }) =>
      Promise.all([
        queries.run(NEXT_ROUND, { webhookNo, after, at }),
        queries.run(DROP_PENDING, { webhookNo }),
      ]),
    ),
}

export function findWebhook(
  queries: Queries,
  { ownerNo, webhookName }: WebhookKey,
): Promise<StoredWebhook | undefined> {
  return queries.get(WEBHOOK, FIND, { ownerNo, webhookName })
}

/** Gives it as it is after the change; undefined: there is none. */
async function change(
  queries: Queries,
  { ownerNo, webhookName }: WebhookKey,
  write: (webhook: StoredWebhook) => Promise<unknown>,
): Promise<StoredWebhook | undefined> {
  const webhook = await queries.get(WEBHOOK, LOCK, { ownerNo, webhookName })
  if (webhook === undefined) return undefined
  await write(webhook)
  return findWebhook(queries, webhook)
}

function valuesOf({ url, eventTypes, jobName, deviceId }: WebhookContent) {
  return { url, eventTypes: JSON.stringify(eventTypes), jobName, deviceId }
}
