// Webhooks, as their owner manages them. Delivery is in dispatch/webhooks/.

import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { ApiError, type WebhookContent } from '@jobcast/contract'
import type { IsAllowedAddress } from './allowed-address.ts'
import type { Caller } from './caller.ts'
import type { EventFilter } from './event.ts'
import type { Put } from './ports/slices.ts'
import type { Store } from './ports/store.ts'
import type { StoredWebhook } from './ports/webhooks.ts'
import { overQuota, type Quotas } from './quotas.ts'

export type WebhookDeps = {
  store: Store
  now: () => number
  isAllowedAddress: IsAllowedAddress
  webhooks: WebhookLink
  quotas: Quotas
}

/** The port to the sender. A hint: the sender reads the webhook from the store. */
export type WebhookLink = { changed(webhookNo: number): void }

const oldSecretMs = 24 * 60 * 60_000
const secretBytes = 32
const secretPrefix = 'whsec_'

/** A new webhook gets a generated secret if none is given. */
export async function putWebhook(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
  content: WebhookContent,
): Promise<Put<StoredWebhook>> {
  refuseBadUrl(content.url, deps.isAllowedAddress)
  if (content.secret !== undefined) refuseBadSecret(content.secret)
  const at = deps.now()
  const maxWebhooks = deps.quotas['max-owner-webhooks']
  const put = await deps.store.putWebhook({
    ownerNo,
    webhookName,
    content: {
      url: content.url,
      eventTypes: content.eventTypes ?? [],
      jobName: content.jobName ?? null,
      deviceId: content.deviceId ?? null,
    },
    secret: content.secret,
    newSecret: newWebhookSecret(),
    oldSecretUntil: at + oldSecretMs,
    maxWebhooks: maxWebhooks === 0 ? Number.MAX_SAFE_INTEGER : maxWebhooks,
    at,
  })
  if (put === 'too-many') throw overQuota('max-owner-webhooks', maxWebhooks)
  deps.webhooks.changed(put.value.webhookNo)
  return put
}

export async function getWebhook(
  { store }: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return requireFound(await store.getWebhook({ ownerNo, webhookName }))
}

export async function deleteWebhook(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<void> {
  notifyChanged(deps, await deps.store.deleteWebhook({ ownerNo, webhookName }))
}

export async function pauseWebhook(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return notifyChanged(deps, await deps.store.pauseWebhook({ ownerNo, webhookName, at: deps.now() }))
}

export async function resumeWebhook(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return notifyChanged(deps, await deps.store.resumeWebhook({ ownerNo, webhookName, at: deps.now() }))
}

/** Both secrets sign for a day, so that receivers can switch without downtime. */
export async function changeWebhookSecret(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  const at = deps.now()
  const change = { secret: newWebhookSecret(), oldSecretUntil: at + oldSecretMs, at }
  return notifyChanged(deps, await deps.store.setWebhookSecret({ ownerNo, webhookName, ...change }))
}

export function requireFound(webhook: StoredWebhook | undefined): StoredWebhook {
  if (webhook === undefined) throw new ApiError('J-307')
  return webhook
}

export function notifyChanged({ webhooks }: WebhookDeps, webhook: StoredWebhook | undefined): StoredWebhook {
  const { webhookNo } = requireFound(webhook)
  webhooks.changed(webhookNo)
  return requireFound(webhook)
}

export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64')
}

/** The signing key in a secret. */
export function secretKey(secret: string): Buffer {
  return Buffer.from(secret.slice(secretPrefix.length), 'base64')
}

/** The schema checks the characters; here it must be canonical base64 of 24 to 64 bytes. */
function refuseBadSecret(secret: string): void {
  const key = secretKey(secret)
  if (key.length >= 24 && key.length <= 64 && key.toString('base64') === secret.slice(secretPrefix.length))
    return
  throw new ApiError('J-500', {
    field: 'secret',
    detail: 'secret must be whsec_ followed by 24 to 64 bytes in base64.',
  })
}

/** Host names are checked when a request is sent, because they may resolve differently by then. */
function refuseBadUrl(text: string, isAllowedAddress: IsAllowedAddress): void {
  const refuse = (detail: string) => new ApiError('J-500', { field: 'url', detail })
  const url = URL.parse(text)
  if (url === null) throw refuse('url is not a URL.')
  if (url.username !== '' || url.password !== '')
    throw refuse('url must not contain a user name or password.')
  const addresses = addressesIn(url.hostname)
  if (addresses.length > 0 && !addresses.some(isAllowedAddress)) {
    throw refuse(
      'url points to an address that this service does not send to; the setting webhook-allow can allow it.',
    )
  }
}

function addressesIn(hostname: string): string[] {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return [host]
  return /(?:^|\.)localhost\.?$/.test(host) ? ['127.0.0.1', '::1'] : []
}

/** Which events it is sent. */
export function filterOf({ eventTypes, jobName, deviceId }: StoredWebhook): EventFilter {
  return {
    types: eventTypes,
    ...(jobName !== null && { jobName }),
    ...(deviceId !== null && { deviceId }),
  }
}
