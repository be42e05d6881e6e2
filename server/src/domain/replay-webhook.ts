// Sends again: one event, or all from an instant on. And the log of what was sent.

import { ApiError, type DeliveryState } from '@jobcast/contract'
import type { Caller } from './caller.ts'
import { subjectOf } from './event.ts'
import type { Slice, Sliced } from './ports/slices.ts'
import type { StoredDelivery, StoredWebhook } from './ports/webhooks.ts'
import { filterOf, getWebhook, tellChanged, type WebhookDeps } from './webhook.ts'

export async function listDeliveries(
  { store }: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
  state: DeliveryState | undefined,
  slice: Slice<number>,
): Promise<Sliced<StoredDelivery, number>> {
  const deliveries = await store.listDeliveries({ ownerNo, webhookName, state, slice })
  if (deliveries === undefined) throw new ApiError('J-307')
  return deliveries
}

/** Of events that are no longer kept, nothing is left to send: it begins with the oldest one that is. */
export async function replayWebhook(
  deps: WebhookDeps,
  { ownerNo }: Caller,
  webhookName: string,
  since: number,
): Promise<StoredWebhook> {
  const replay = { after: await deps.store.findEventBefore({ ownerNo, at: since }), at: deps.now() }
  return tellChanged(deps, await deps.store.replayWebhook({ ownerNo, webhookName, ...replay }))
}

/** What is in the log can be sent again whatever the filter says by now; what is not, only if it matches. */
export async function replayDelivery(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  eventId: number,
): Promise<StoredDelivery> {
  const { store } = deps
  const webhook = await getWebhook(deps, caller, webhookName)
  const event = await store.getEvent({ ownerNo: caller.ownerNo, eventId })
  if (event === undefined) throw new ApiError('J-308')
  const slice = { after: eventId - 1, limit: 1 }
  const [match] = (await store.listEvents({ ownerNo: caller.ownerNo, filter: filterOf(webhook), slice }))
    .events
  const delivery = await store.replayDelivery({
    webhookNo: webhook.webhookNo,
    eventId,
    type: event.type,
    subject: subjectOf(event),
    matches: match?.eventId === eventId,
    at: deps.now(),
  })
  if (delivery === undefined) throw new ApiError('J-308')
  tellChanged(deps, webhook)
  return delivery
}
