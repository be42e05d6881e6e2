// A webhook: an address to which events of an owner are sent, signed, in order for each subject, and again until they
// are accepted. It has a cursor in the event log. This file has what owners do with webhooks; dispatch/webhooks/
// delivers.
//
// Read next: allowed-address.ts, where they may be sent; sign-webhook.ts, their signature; chat-events.ts and
// describe-event.ts, what people are told; replay-webhook.ts, sending events again, and the delivery log.

import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import {
  ApiError,
  type EventTypeOf,
  type WebhookContent,
  type WebhookTestResult,
  webhooks,
} from '@jobcast/contract'
import { type Caller, makerOf } from '../access/caller.ts'
import { principalOf } from '../access/principal.ts'
import { overQuota, type Quotas } from '../access/quotas.ts'
import { type TellAccessDeps, tellAccess } from '../access/tell-access.ts'
import { originOf } from '../audit/audit.ts'
import { type Expectation, isExpected } from '../common/entity-tag.ts'
import { notExpected } from '../common/not-found.ts'
import type { Put } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { EventFilter } from '../event/event.ts'
import { accessNouns, requireVisible } from '../event/visible-events.ts'
import type { IsAllowedAddress } from './allowed-address.ts'
import { refuseSilentTypes, typesSent } from './chat-events.ts'
import type { StoredWebhook, WebhookChange } from './ports/webhooks.ts'
import { webhookTag } from './webhook-tag.ts'

export type WebhookDeps = TellAccessDeps & {
  store: Store
  now: () => number
  isAllowedAddress: IsAllowedAddress
  webhooks: WebhookLink
  quotas: Quotas
}

/** The port to the sender. */
export type WebhookLink = {
  /** A hint: the sender reads the webhook from the store. */
  changed(webhookNo: number): void
  /** Sends one request that is no event. */
  test(webhook: StoredWebhook): Promise<WebhookTestResult>
}

const oldSecretMs = 24 * 60 * 60_000
const secretBytes = 32
const secretPrefix = 'whsec_'

/** A new webhook gets a generated secret if none is given. */
export async function putWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  content: WebhookContent,
  ifMatch: Expectation = {},
): Promise<Put<StoredWebhook>> {
  const { ownerNo } = caller
  requireVisible(caller, content.eventTypes ?? [])
  refuseSilentTypes(content)
  refuseBadUrl(content.url, deps.isAllowedAddress)
  if (content.secret !== undefined) refuseBadSecret(content.secret)
  const at = deps.now()
  const maxWebhooks = deps.quotas.webhooks
  const put = await deps.store.putWebhook({
    ownerNo,
    webhookName,
    content: {
      url: content.url,
      eventTypes: content.eventTypes ?? [],
      jobName: content.jobName ?? null,
      deviceId: content.deviceId ?? null,
      format: content.format ?? 'jobcast',
    },
    maker: makerOf(caller),
    secret: content.secret,
    newSecret: newWebhookSecret(),
    oldSecretUntil: at + oldSecretMs,
    maxWebhooks: maxWebhooks === 0 ? Number.MAX_SAFE_INTEGER : maxWebhooks,
    at,
    ...originOf(caller),
    ...ifMatch,
  })
  if (put === 'not-expected') throw notExpected(webhooks, webhookName, ifMatch)
  if (put === 'too-many') throw overQuota('webhooks', maxWebhooks)
  deps.webhooks.changed(put.value.webhookNo)
  if (put.created) tellAccess(deps, 'webhook.created', caller, { webhookName })
  else if (put.changed) tellAccess(deps, 'webhook.updated', caller, { webhookName })
  return put
}

export async function getWebhook(
  { store }: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return requireFound(await store.getWebhook({ ownerNo, webhookName }))
}

/** Also of a paused webhook. */
export async function testWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
): Promise<WebhookTestResult> {
  return deps.webhooks.test(await getWebhook(deps, caller, webhookName))
}

export async function deleteWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  { expected }: Expectation = {},
): Promise<void> {
  if (expected && !isExpected(expected, webhookTag(await getWebhook(deps, caller, webhookName)))) {
    throw new ApiError('J-312')
  }
  await changeWebhook(deps, caller, webhookName, 'webhook.deleted', deps.store.deleteWebhook)
}

export function pauseWebhook(deps: WebhookDeps, caller: Caller, webhookName: string): Promise<StoredWebhook> {
  return changeWebhook(deps, caller, webhookName, 'webhook.updated', deps.store.pauseWebhook)
}

export function resumeWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return changeWebhook(deps, caller, webhookName, 'webhook.updated', deps.store.resumeWebhook)
}

/** Both secrets sign for a day, so that receivers can switch without downtime. */
export function changeWebhookSecret(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  return changeWebhook(deps, caller, webhookName, 'webhook.updated', (change) =>
    deps.store.setWebhookSecret({
      ...change,
      secret: newWebhookSecret(),
      oldSecretUntil: change.at + oldSecretMs,
    }),
  )
}

/** Returns the webhook as it is after the change; one that was deleted, as it was before. */
export async function changeWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  type: EventTypeOf<'webhook'>,
  write: (change: WebhookChange) => Promise<StoredWebhook | undefined>,
): Promise<StoredWebhook> {
  const { ownerNo } = caller
  const by = { principal: principalOf(caller), at: deps.now(), ...originOf(caller) }
  const webhook = await write({ ownerNo, webhookName, ...by })
  notifyChanged(deps, webhook)
  tellAccess(deps, type, caller, { webhookName })
  return requireFound(webhook)
}

/** Paths and queries of webhook URLs often hold a secret of the receiver, so only keys that could replace a URL see all of it. */
export function shownUrl({ url }: StoredWebhook, { scopes }: Caller): string {
  return scopes.includes('MANAGE') ? url : new URL(url).origin
}

function requireFound(webhook: StoredWebhook | undefined): StoredWebhook {
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

/** Which events it is sent. Those about access only if it names them: a receiver of all events is not one of these. */
export function filterOf(webhook: StoredWebhook): EventFilter {
  const { eventTypes, jobName, deviceId } = webhook
  return {
    types: typesSent(webhook),
    ...(eventTypes.length === 0 && { hiddenNouns: accessNouns }),
    ...(jobName !== null && { jobName }),
    ...(deviceId !== null && { deviceId }),
  }
}
