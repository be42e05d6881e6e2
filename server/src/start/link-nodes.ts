// Lets the parts reach devices that are connected to other nodes, and webhooks that other nodes send.

import type { Parts } from '../build-parts.ts'
import { shareLink, shareWebhooks } from '../dispatch/nodes/share-link.ts'
import type { WebhookSender } from '../dispatch/webhooks/webhook-sender.ts'
import type { DeviceLink } from '../domain/device/ports/device-link.ts'
import type { WebhookLink } from '../domain/webhook/webhook.ts'
import type { Joined } from './open-storage.ts'

export type LinkedParts = Omit<Parts, 'link'> & { link: DeviceLink; webhooks: WebhookLink }

export function linkNodes(parts: Parts, webhooks: WebhookSender, joined: Joined | undefined): LinkedParts {
  const { dispatcher, rollouts, schedules, matching } = parts
  const linked = {
    ...parts,
    link: joined ? shareLink(dispatcher, joined.nodes) : dispatcher,
    webhooks: joined ? shareWebhooks(webhooks, joined.nodes) : webhooks,
  }
  for (const ticker of [rollouts, schedules, matching]) ticker.link = linked.link
  if (joined) matching.isOurs = (ownerNo) => joined.share.isOurs(ownerNo)
  return linked
}
