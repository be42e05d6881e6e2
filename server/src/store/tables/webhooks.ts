import type { WebhookChange as ChangeName, EventTypeOf } from '@jobcast/contract'
import { isExpected } from '../../domain/common/entity-tag.ts'
import type {
  StoredWebhook,
  WebhookChange,
  WebhookContent,
  WebhookKey,
} from '../../domain/webhook/ports/webhooks.ts'
import { isWebhookWithin } from '../../domain/webhook/webhook-scope.ts'
import { webhookTag } from '../../domain/webhook/webhook-tag.ts'
import { inBoth, type Queries, sliced, type Writes } from '../queries.ts'
import { computed, number, rows, select, text } from '../schema/column.ts'
import { webhook } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

export const WEBHOOK = select({
  ...webhook.fields,
  ownerId: computed('(SELECT owner_id FROM owner WHERE owner.owner_no = webhook.owner_no)', text()),
})
const FIND =
  `SELECT ${WEBHOOK} FROM webhook WHERE owner_no = :ownerNo AND webhook_name = :webhookName` as const
const LOCK = inBoth(({ lock }) => `${FIND} ${lock}`)
const LIST = `
  SELECT ${WEBHOOK} FROM webhook WHERE owner_no = :ownerNo AND webhook_name > :after
  ORDER BY webhook_name LIMIT :limit` as const
const ACTIVE_WEBHOOK = select(webhook.pick('webhookNo', 'updatedAt'))
const ACTIVE = `SELECT ${ACTIVE_WEBHOOK} FROM webhook WHERE paused_because IS NULL` as const
// Serializes the creation of webhooks per owner, so that they can be counted.
const LOCK_OWNER = inBoth(({ is, lock }) =>
  is === 'postgres' ? `SELECT 1 FROM owner WHERE owner_no = :ownerNo ${lock}` : '',
)
const COUNT = 'SELECT count(*) AS count FROM webhook WHERE owner_no = :ownerNo'
const INSERT = `
  INSERT INTO webhook (owner_no, webhook_name, url, event_types, job_name, device_id, format, secret, cursor_id,
    created_at, updated_at, created_by, created_by_session, restriction)
  VALUES (:ownerNo, :webhookName, :url, :eventTypes, :jobName, :deviceId, :format, :secret,
    coalesce((SELECT max(event_id) FROM event WHERE owner_no = :ownerNo), 0), :at, :at, :createdBy,
    :createdBySession, :restriction)`
const UPDATE = `
  UPDATE webhook SET url = :url, event_types = :eventTypes, job_name = :jobName, device_id = :deviceId, format = :format,
    updated_at = :at
  WHERE webhook_no = :webhookNo`
const SET_SECRET = `
  UPDATE webhook SET old_secret = secret, old_secret_until = :oldSecretUntil, secret = :secret, updated_at = :at
  WHERE webhook_no = :webhookNo`
/** Does not change a paused webhook. */
export const PAUSE = `
  UPDATE webhook SET paused_because = :because, paused_at = :at, updated_at = :at
  WHERE webhook_no = :webhookNo AND paused_because IS NULL`
const RESUME = `
  UPDATE webhook SET paused_because = NULL, paused_at = NULL, failing_since = NULL, updated_at = :at
  WHERE webhook_no = :webhookNo`
// Few deliveries are pending.
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
// Pending deliveries after the first event of a round are created again in the round.
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
    const { ownerNo, webhookName, secret, oldSecretUntil, at, maker } = put
    const principal = maker.createdBy ?? ''
    const putter = put.restriction === null ? {} : { restriction: put.restriction }
    const values = { at, ...valuesOf(put.content) }
    await queries.run(LOCK_OWNER, { ownerNo })
    const before = await queries.get(WEBHOOK, LOCK, { ownerNo, webhookName })
    if (before ? !isWebhookWithin(putter, before) : !put.mayCreate) return 'unknown'
    if (!isExpected(put.expected, before && webhookTag(before))) return 'not-expected'
    if (before) {
      const { webhookNo } = before
      await queries.run(UPDATE, { ...values, webhookNo })
      const isNewSecret = secret !== undefined && secret !== before.secret
      if (isNewSecret) await queries.run(SET_SECRET, { webhookNo, secret, oldSecretUntil, at })
      const isOther = !isSame(before, put.content)
      const by = { principal, at }
      if (isOther)
        recordEvent(queries, before, 'webhook.updated', {
          ...by,
          change: 'content',
          before: shown(before),
          after: shown(put.content),
        })
      if (isNewSecret) recordEvent(queries, before, 'webhook.updated', { ...by, change: 'secret' })
      const value = await queries.one(WEBHOOK, FIND, { ownerNo, webhookName })
      return { created: false, changed: isOther || isNewSecret, value }
    }
    const { count } = await queries.one(rows({ count: number() }), COUNT, { ownerNo })
    if (count >= put.maxWebhooks) return 'too-many'
    await queries.run(INSERT, {
      ...values,
      createdBy: maker.createdBy,
      createdBySession: maker.createdBySession,
      restriction: put.restriction && JSON.stringify(put.restriction),
      ownerNo,
      webhookName,
      secret: secret ?? put.newSecret,
    })
    recordEvent(queries, put, 'webhook.created', {
      principal,
      at,
      after: { ...shown(put.content), ...put.restriction },
    })
    return {
      created: true,
      changed: true,
      value: await queries.one(WEBHOOK, FIND, { ownerNo, webhookName }),
    }
  },
  async deleteWebhook(queries, { ownerNo, webhookName, principal, at }) {
    const webhook = await queries.get(WEBHOOK, LOCK, { ownerNo, webhookName })
    if (webhook === undefined) return undefined
    await queries.run(DELETE, { webhookNo: webhook.webhookNo })
    recordEvent(queries, webhook, 'webhook.deleted', {
      principal,
      at,
      before: { ...shown(webhook), ...webhook.restriction },
    })
    return webhook
  },
  pauseWebhook: (queries, by) =>
    change(queries, by, 'paused', ({ webhookNo }) =>
      queries.run(PAUSE, { webhookNo, because: 'owner', at: by.at }),
    ),
  resumeWebhook: (queries, by) =>
    change(queries, by, 'resumed', ({ webhookNo }) =>
      Promise.all([
        queries.run(RESUME, { webhookNo, at: by.at }),
        queries.run(TRY_NOW, { webhookNo, at: by.at }),
      ]),
    ),
  setWebhookSecret: (queries, { secret, oldSecretUntil, ...by }) =>
    change(queries, by, 'secret', ({ webhookNo }) =>
      queries.run(SET_SECRET, { webhookNo, secret, oldSecretUntil, at: by.at }),
    ),
  replayWebhook: (queries, { after, ...by }) =>
    change(queries, by, 'replayed', ({ webhookNo }) =>
      Promise.all([
        queries.run(NEXT_ROUND, { webhookNo, after, at: by.at }),
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

/** Returns the webhook after the change; undefined: no such webhook. */
async function change(
  queries: Writes,
  { ownerNo, webhookName, principal, at }: WebhookChange,
  what: ChangeName,
  write: (webhook: StoredWebhook) => Promise<unknown>,
): Promise<StoredWebhook | undefined> {
  const webhook = await queries.get(WEBHOOK, LOCK, { ownerNo, webhookName })
  if (webhook === undefined) return undefined
  await write(webhook)
  // Pausing a paused webhook, or resuming an active one, changes nothing.
  const isSuch = what === (webhook.pausedBecause === null ? 'resumed' : 'paused')
  const after = await findWebhook(queries, webhook)
  if (!isSuch) {
    const states = isPauseOrResume(what) && { before: stateOf(webhook), after: after && stateOf(after) }
    recordEvent(queries, webhook, 'webhook.updated', { principal, at, change: what, ...states })
  }
  return after
}

export function recordEvent(
  queries: Writes,
  { ownerNo, webhookName }: WebhookKey,
  type: EventTypeOf<'webhook'>,
  by: { principal: string; at: number; change?: ChangeName; before?: object; after?: object | undefined },
): void {
  const { principal, at, change, before, after } = by
  const data = { webhookName, ...(change && { change }), principal }
  queries.resourceChanged(type, { ownerNo, at, data, before, after, note: change })
}

const isPauseOrResume = (what: ChangeName) => what === 'paused' || what === 'resumed'
const stateOf = ({ pausedBecause }: StoredWebhook) => ({ pausedBecause })

/** Paths and queries of URLs often contain a secret of the receiver. */
function shown({ url, eventTypes, jobName, deviceId, format }: WebhookContent) {
  return { url: `${new URL(url).origin}/********`, eventTypes, jobName, deviceId, format }
}

function isSame(one: WebhookContent, other: WebhookContent): boolean {
  return JSON.stringify(valuesOf(one)) === JSON.stringify(valuesOf(other))
}

function valuesOf({ url, eventTypes, jobName, deviceId, format }: WebhookContent) {
  return { url, eventTypes: JSON.stringify(eventTypes), jobName, deviceId, format }
}
