// Starts the sender of webhooks.

import { buildClock } from '../dispatch/webhooks/clock.ts'
import { EventPoster } from '../dispatch/webhooks/event-poster.ts'
import { WebhookSender } from '../dispatch/webhooks/webhook-sender.ts'
import type { Storage } from './open-storage.ts'
import type { Start } from './start.ts'

export function startWebhooks(
  { config, version, elapsed, tell, metrics, takeDown }: Start,
  { store, now, joined }: Storage,
  isAllowedAddress: (address: string) => boolean,
): WebhookSender {
  const userAgent = `Jobcast/${version}`
  const webhooks = new WebhookSender({
    store,
    tell,
    clock: buildClock(now, elapsed),
    chance: Math.random,
    poster: new EventPoster({ isAllowedAddress, userAgent, now }),
    publicUrl: config.publicUrl,
    share: joined?.share,
  })
  webhooks.start()
  takeDown.add(() => webhooks.stop())
  metrics.gauges('jobcast_build_info', 'What is running; always 1', ['version', 'node', 'store'], () => {
    const labels = { version, node: process.version, store: joined ? 'postgres' : 'sqlite' }
    return [{ labels, value: 1 }]
  })
  metrics.gauge('jobcast_webhooks_failing', 'Webhooks whose deliveries fail', () => webhooks.failing)
  return webhooks
}
