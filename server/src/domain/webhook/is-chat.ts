// Formats that are for people: few messages, each one sentence.

import type { WebhookFormat } from '@jobcast/contract'

export function isChat(format: WebhookFormat): boolean {
  return format === 'slack' || format === 'teams'
}
