// The events that a restricted webhook may send, as it may show them: what its devices are is judged at this moment, when events
// are read from the log and again when each is sent. Counts are not cached, because a webhook lives for months.

import type { Store } from '../common/ports/store.ts'
import type { StoredEvent } from '../event/event.ts'
import { showInReach } from '../event/events-in-reach.ts'
import type { StoredWebhook } from './ports/webhooks.ts'
import { filterOf } from './webhook.ts'

export type WithinStore = Pick<Store, 'matchDevices' | 'countRunsWithin'>

export function eventsWithin(
  store: WithinStore,
  webhook: StoredWebhook,
  events: StoredEvent[],
): Promise<StoredEvent[]> {
  const { ownerNo, restriction } = webhook
  if (restriction === null) return Promise.resolve(events)
  return showInReach({ store }, { ownerNo, restriction }, filterOf(webhook))(events)
}
