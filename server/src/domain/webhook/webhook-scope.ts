// Webhooks of restricted keys. Such a webhook keeps the restriction of the key that created it and sends only events inside it,
// whoever changes it later. Its name ends with @ and a tag of the restriction, so that no key learns which names others have
// taken; keys with the same restriction leave the tag out. Webhooks outside of a caller's restriction are unknown to it.

import { createHash } from 'node:crypto'
import { ApiError } from '@jobcast/contract/words'
import type { Caller } from '../access/caller.ts'
import { isSelectorWithin } from '../access/key-selector.ts'
import { isPatternWithin, isUnderstood, type Restriction } from '../access/restriction.ts'
import type { StoredWebhook } from './ports/webhooks.ts'

type Restricted = Pick<Caller, 'restriction'>

const tagged = /^(.*)@([0-9a-f]{16})$/su
const maxLength = 128

/** What a webhook that the caller creates is restricted to. Addresses do not restrict events. */
export function webhookRestriction({ restriction }: Restricted): Restriction | null {
  const { jobs, where } = restriction ?? {}
  if (jobs === undefined && where === undefined) return null
  return { ...(jobs && { jobs }), ...(where !== undefined && { where }) }
}

/** The stored name of a webhook, from the name in a request. */
export function storedName(caller: Restricted, webhookName: string): string {
  const tag = tagOf(caller)
  return tag === undefined || tagged.test(webhookName) ? webhookName : `${webhookName}@${tag}`
}

/** The name that the caller uses in requests. */
export function shownName(caller: Restricted, webhookName: string): string {
  const [, name, tag] = tagged.exec(webhookName) ?? []
  return name !== undefined && tag === tagOf(caller) ? name : webhookName
}

/** Whether the caller can create a webhook of this name: names with the tag of another restriction exist, or they do not. */
export function mayCreate(caller: Restricted, name: string): boolean {
  return tagged.exec(name)?.[2] === tagOf(caller)
}

/** Throws J-500 if the stored name would be too long to be used in requests. */
export function refuseLongName(name: string): void {
  if ([...name].length <= maxLength) return
  const most = maxLength - tagLength - 1
  const detail = `webhookName must have at most ${most} characters with a key that is restricted to jobs or devices.`
  throw new ApiError('J-500', { field: 'webhookName', detail })
}

/** Whether all events that the webhook can send are within the caller's restriction. */
export function isWebhookWithin(caller: Restricted, webhook: Pick<StoredWebhook, 'restriction'>): boolean {
  const bound = webhookRestriction(caller)
  if (bound === null) return true
  if (webhook.restriction === null || !isUnderstood(webhook)) return false
  const { jobs, where } = webhook.restriction
  const { jobs: ofJobs, where: ofDevices } = bound
  const areJobsWithin =
    ofJobs === undefined || jobs?.every((one) => ofJobs.some((other) => isPatternWithin(one, other))) === true
  const areDevicesWithin =
    ofDevices === undefined || (where !== undefined && isSelectorWithin(where, ofDevices))
  return areJobsWithin && areDevicesWithin
}

const tagLength = 16

function tagOf(caller: Restricted): string | undefined {
  const restriction = webhookRestriction(caller)
  if (restriction === null) return undefined
  const { jobs, where } = restriction
  const text = JSON.stringify([jobs?.toSorted() ?? null, where ?? null])
  return createHash('sha256').update(text).digest('hex').slice(0, tagLength)
}
