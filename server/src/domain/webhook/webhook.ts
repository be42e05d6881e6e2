// A webhook: an address to which events of an owner are sent, signed, in order for each subject, and again until they
// are accepted. It has a cursor in the event log. This file has the owner's operations on webhooks; dispatch/webhooks/
// delivers events.
//
// Read next: allowed-address.ts, allowed receivers; sign-webhook.ts, signatures; chat-events.ts and
// describe-event.ts, messages for people; replay-webhook.ts, sending events again, and the delivery log; webhook-scope.ts and
// events-within.ts, webhooks of restricted keys.

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
import { isConfined, jobFilterOf } from '../access/restriction.ts'
import { type TellAccessDeps, tellAccess } from '../access/tell-access.ts'
import { originOf } from '../audit/audit.ts'
import { type Expectation, isExpected } from '../common/entity-tag.ts'
import { listVisible } from '../common/list-visible.ts'
import { notExpected } from '../common/not-found.ts'
import type { Put, Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { EventFilter } from '../event/event.ts'
import { accessNouns, hiddenNounsOf, requireVisible } from '../event/visible-events.ts'
import type { IsAllowedAddress } from './allowed-address.ts'
import { refuseSilentTypes, typesSent } from './chat-events.ts'
import type { StoredWebhook, WebhookChange } from './ports/webhooks.ts'
import {
  isWebhookWithin,
  mayCreate,
  refuseLongName,
  storedName,
  webhookRestriction,
} from './webhook-scope.ts'
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
  /** Sends one test request. */
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
  const name = storedName(caller, webhookName)
  requireVisible(caller, content.eventTypes ?? [])
  refuseLongName(name)
  refuseSilentTypes(content)
  refuseBadUrl(content.url, deps.isAllowedAddress)
  if (content.secret !== undefined) refuseBadSecret(content.secret)
  const at = deps.now()
  const maxWebhooks = deps.quotas.webhooks
  const put = await deps.store.putWebhook({
    ownerNo,
    webhookName: name,
    restriction: webhookRestriction(caller),
    mayCreate: mayCreate(caller, name),
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
  if (put === 'unknown') throw new ApiError('J-307')
  if (put === 'not-expected') throw notExpected(webhooks, webhookName, ifMatch)
  if (put === 'too-many') throw overQuota('webhooks', maxWebhooks)
  deps.webhooks.changed(put.value.webhookNo)
  if (put.created) tellAccess(deps, 'webhook.created', caller, { webhookName: name })
  else if (put.changed) tellAccess(deps, 'webhook.updated', caller, { webhookName: name })
  return put
}

export async function getWebhook(
  { store }: Pick<WebhookDeps, 'store'>,
  caller: Caller,
  webhookName: string,
): Promise<StoredWebhook> {
  const key = { ownerNo: caller.ownerNo, webhookName: storedName(caller, webhookName) }
  const webhook = requireFound(await store.getWebhook(key))
  if (!isWebhookWithin(caller, webhook)) throw new ApiError('J-307')
  return webhook
}

export async function listWebhooks(
  { store }: WebhookDeps,
  caller: Caller,
  slice: Slice<string>,
): Promise<Sliced<StoredWebhook, string>> {
  const { ownerNo } = caller
  const list = (part: Slice<string>) => store.listWebhooks({ ownerNo, slice: part })
  if (!isConfined(caller)) return list(slice)
  return listVisible(
    list,
    slice,
    (webhook) => isWebhookWithin(caller, webhook),
    (webhook) => webhook.webhookName,
  )
}

/** The stored name of a webhook that the caller can see. */
export async function webhookNameOf(
  deps: Pick<WebhookDeps, 'store'>,
  caller: Caller,
  webhookName: string,
): Promise<string> {
  // A name with a tag belongs to one restriction, so this remains true.
  return isConfined(caller) ? (await getWebhook(deps, caller, webhookName)).webhookName : webhookName
}

/** Also works for a paused webhook. */
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

/** Returns the webhook after the change, or a deleted webhook as it was before. */
export async function changeWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  type: EventTypeOf<'webhook'>,
  write: (change: WebhookChange) => Promise<StoredWebhook | undefined>,
): Promise<StoredWebhook> {
  const { ownerNo } = caller
  const name = await webhookNameOf(deps, caller, webhookName)
  const by = { principal: principalOf(caller), at: deps.now(), ...originOf(caller) }
  const webhook = await write({ ownerNo, webhookName: name, ...by })
  notifyChanged(deps, webhook)
  tellAccess(deps, type, caller, { webhookName: name })
  return requireFound(webhook)
}

/** Paths and queries of webhook URLs often contain a secret, so only keys that may change the URL see all of it. */
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

/** The events of a webhook; a restriction to devices is applied by events-within.ts. Events about access only if its types name them; the default does not include them. */
export function filterOf(webhook: StoredWebhook): EventFilter {
  const { eventTypes, jobName, deviceId, restriction } = webhook
  return {
    types: typesSent(webhook),
    ...(restriction === null
      ? eventTypes.length === 0 && { hiddenNouns: accessNouns }
      : { hiddenNouns: hiddenNounsOf({ scopes: [], restriction }), ...jobFilterOf({ restriction }) }),
    ...(jobName !== null && { jobName }),
    ...(deviceId !== null && { deviceId }),
  }
}
