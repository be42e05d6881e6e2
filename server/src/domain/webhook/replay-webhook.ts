// Replays one event, or all events since an instant, and lists the delivery log.

import { ApiError, type DeliveryState } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { originOf } from '../audit/audit.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import { eventsWithin } from './events-within.ts'
import { subjectSent } from './first-failure.ts'
import type { StoredDelivery, StoredWebhook } from './ports/webhooks.ts'
import {
  changeWebhook,
  filterOf,
  getWebhook,
  notifyChanged,
  type WebhookDeps,
  webhookNameOf,
} from './webhook.ts'

export async function listDeliveries(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  state: DeliveryState | undefined,
  slice: Slice<number>,
): Promise<Sliced<StoredDelivery, number>> {
  const { ownerNo } = caller
  const name = await webhookNameOf(deps, caller, webhookName)
  const deliveries = await deps.store.listDeliveries({ ownerNo, webhookName: name, state, slice })
  if (deliveries === undefined) throw new ApiError('J-307')
  return deliveries
}

/** Starts with the oldest retained event if `since` is earlier. */
export async function replayWebhook(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  since: number,
): Promise<StoredWebhook> {
  const after = await deps.store.findEventBefore({ ownerNo: caller.ownerNo, at: since })
  return changeWebhook(deps, caller, webhookName, 'webhook.updated', (change) =>
    deps.store.replayWebhook({ ...change, after }),
  )
}

/**
 * An event in the delivery log can always be sent again; any other only if it matches the filter. Outside of the restriction of
 * the webhook there is none.
 */
export async function replayDelivery(
  deps: WebhookDeps,
  caller: Caller,
  webhookName: string,
  eventId: number,
): Promise<StoredDelivery> {
  const { store } = deps
  const webhook = await getWebhook(deps, caller, webhookName)
  const event = await store.getEvent({ ownerNo: caller.ownerNo, eventId })
  const [shown] = event === undefined ? [] : await eventsWithin(store, webhook, [event])
  if (event === undefined || shown === undefined) throw new ApiError('J-308')
  const slice = { after: eventId - 1, limit: 1 }
  const [match] = (await store.listEvents({ ownerNo: caller.ownerNo, filter: filterOf(webhook), slice }))
    .events
  const delivery = await store.replayDelivery({
    webhookNo: webhook.webhookNo,
    eventId,
    type: event.type,
    subject: subjectSent(webhook, event),
    matches: match?.eventId === eventId,
    at: deps.now(),
    ...originOf(caller),
  })
  if (delivery === undefined) throw new ApiError('J-308')
  notifyChanged(deps, webhook)
  return delivery
}
