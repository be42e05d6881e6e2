// Chat formats: few messages of one sentence each.

import type { WebhookFormat } from '@jobcast/contract'

export function isChat(format: WebhookFormat): boolean {
  return format === 'slack' || format === 'teams'
}
