import type { DatabaseSync } from 'node:sqlite'
import type { PauseReason } from '@jobcast/contract'
import type { Put, Slice, Sliced } from '../../domain/store.ts'
import type { StoredWebhook, WebhookKey, WebhookPut } from '../../domain/webhook-store.ts'
import { type Row, sliced } from './rows.ts'

const SELECT = `
  SELECT webhook_no, owner_no, webhook_name, url, event_types, job_name, device_id, secret, old_secret,
    old_secret_until, paused_because, paused_at, last_delivered_at, failing_since, cursor_id, round, created_at,
    updated_at
  FROM webhook`
const FIND = `${SELECT} WHERE owner_no = :ownerNo AND webhook_name = :webhookName`
const LIST = `${SELECT} WHERE owner_no = ? AND webhook_name > ? ORDER BY webhook_name LIMIT ?`
const ACTIVE = 'SELECT webhook_no FROM webhook WHERE paused_because IS NULL'
const COUNT = 'SELECT count(*) AS n FROM webhook WHERE owner_no = ?'
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
const PAUSE = `
  UPDATE webhook SET paused_because = :because, paused_at = :at, updated_at = :at
  WHERE webhook_no = :webhookNo AND paused_because IS NULL`
const RESUME = `
  UPDATE webhook SET paused_because = NULL, paused_at = NULL, failing_since = NULL, updated_at = :at
  WHERE webhook_no = :webhookNo`
// Few are pending of many; SQLite alone would look at all of the log.
const TRY_NOW = `
  UPDATE webhook_delivery INDEXED BY webhook_delivery_pending SET next_at = :at
  WHERE webhook_no = :webhookNo AND state = 'PENDING' AND next_at > :at`
const NEXT_ROUND = `
  UPDATE webhook SET cursor_id = min(cursor_id, :after), round = round + 1, updated_at = :at
  WHERE webhook_no = :webhookNo`
// What is pending behind the place where a round begins is read again with all the others there.
const DROP_PENDING = `
  DELETE FROM webhook_delivery INDEXED BY webhook_delivery_pending
  WHERE webhook_no = :webhookNo AND state = 'PENDING'
    AND event_id > (SELECT cursor_id FROM webhook WHERE webhook_no = :webhookNo)`
const DELETE = 'DELETE FROM webhook WHERE webhook_no = ?'

export function prepareWebhooks(db: DatabaseSync) {
  const find = db.prepare(FIND)
  const findByNo = db.prepare(`${SELECT} WHERE webhook_no = ? AND paused_because IS NULL`)
  const list = db.prepare(LIST)
  const active = db.prepare(ACTIVE)
  const count = db.prepare(COUNT)
  const insert = db.prepare(INSERT)
  const update = db.prepare(UPDATE)
  const setSecret = db.prepare(SET_SECRET)
  const pause = db.prepare(PAUSE)
  const resume = db.prepare(RESUME)
  const tryNow = db.prepare(TRY_NOW)
  const nextRound = db.prepare(NEXT_ROUND)
  const dropPending = db.prepare(DROP_PENDING)
  const remove = db.prepare(DELETE)

  function getWebhook({ ownerNo, webhookName }: WebhookKey): StoredWebhook | undefined {
    const row = find.get({ ownerNo, webhookName })
    return row && toWebhook(row)
  }

  /** Gives it as it is after the change; undefined: there is none. */
  function change(key: WebhookKey, write: (webhook: StoredWebhook) => void): StoredWebhook | undefined {
    const webhook = getWebhook(key)
    if (webhook === undefined) return undefined
    write(webhook)
    return getWebhook(key)
  }

  function putWebhook(put: WebhookPut): Put<StoredWebhook> | 'too-many' {
    const { ownerNo, webhookName, secret, oldSecretUntil, at } = put
    const { url, jobName, deviceId } = put.content
    const fields = { url, jobName, deviceId, at, eventTypes: JSON.stringify(put.content.eventTypes) }
    const changed = change(put, ({ webhookNo, secret: before }) => {
      update.run({ webhookNo, ...fields })
      if (secret !== undefined && secret !== before) setSecret.run({ webhookNo, secret, oldSecretUntil, at })
    })
    if (changed) return { created: false, value: changed }
    if ((count.get(ownerNo)?.n as number) >= put.maxWebhooks) return 'too-many'
    insert.run({ ownerNo, webhookName, secret: secret ?? put.newSecret, ...fields })
    return { created: true, value: getWebhook(put) as StoredWebhook }
  }

  return {
    putWebhook,
    getWebhook,
    listWebhooks(input: { ownerNo: number; slice: Slice<string> }): Sliced<StoredWebhook, string> {
      const { after, limit } = input.slice
      const rows = list.all(input.ownerNo, after ?? '', limit + 1)
      return sliced(rows.map(toWebhook), limit, (webhook) => webhook.webhookName)
    },
    listActiveWebhooks(_?: undefined): number[] {
      return active.all().map((row) => row.webhook_no as number)
    },
    findActiveWebhook(webhookNo: number): StoredWebhook | undefined {
      const row = findByNo.get(webhookNo)
      return row && toWebhook(row)
    },
    deleteWebhook(key: WebhookKey): StoredWebhook | undefined {
      const webhook = getWebhook(key)
      if (webhook) remove.run(webhook.webhookNo)
      return webhook
    },
    pauseWebhook({ at, ...key }: WebhookKey & { at: number }): StoredWebhook | undefined {
      return change(key, ({ webhookNo }) => pause.run({ webhookNo, because: 'owner', at }))
    },
    pauseByNo(input: { webhookNo: number; because: PauseReason; at: number }): void {
      pause.run(input)
    },
    resumeWebhook({ at, ...key }: WebhookKey & { at: number }): StoredWebhook | undefined {
      return change(key, ({ webhookNo }) => {
        resume.run({ webhookNo, at })
        tryNow.run({ webhookNo, at })
      })
    },
    setWebhookSecret(
      input: WebhookKey & { secret: string; oldSecretUntil: number; at: number },
    ): StoredWebhook | undefined {
      const { secret, oldSecretUntil, at } = input
      return change(input, ({ webhookNo }) => setSecret.run({ webhookNo, secret, oldSecretUntil, at }))
    },
    replayWebhook(input: WebhookKey & { after: number; at: number }): StoredWebhook | undefined {
      const { after, at } = input
      return change(input, ({ webhookNo }) => {
        nextRound.run({ webhookNo, after, at })
        dropPending.run({ webhookNo })
      })
    },
  }
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
