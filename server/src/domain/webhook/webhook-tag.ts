import { tagOf } from '../common/entity-tag.ts'
import type { WebhookContent } from './ports/webhooks.ts'

export function webhookTag({ url, eventTypes, jobName, deviceId, format }: WebhookContent): string {
  return tagOf([url, eventTypes, jobName, deviceId, format])
}
