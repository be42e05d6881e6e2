// Webhooks and results of attempts for tests of a store.

import assert from 'node:assert/strict'
import type { Store } from '../../src/domain/common/ports/store.ts'
import type {
  AttemptResult,
  StoredAttempt,
  StoredWebhook,
  WebhookProgress,
  WebhookPut,
} from '../../src/domain/webhook/ports/webhooks.ts'
import { startedAt } from './store-under-test.ts'

export const day = 24 * 60 * 60_000

export function webhookPut(ownerNo: number, webhookName: string, more: Partial<WebhookPut> = {}): WebhookPut {
  return {
    ownerNo,
    webhookName,
    content: {
      url: 'https://example.com/hook',
      eventTypes: [],
      jobName: null,
      deviceId: null,
      format: 'jobcast',
    },
    maker: { createdBy: 'key:k1', createdBySession: null },
    secret: undefined,
    newSecret: 'whsec_new',
    oldSecretUntil: startedAt + day,
    maxWebhooks: 100,
    at: startedAt,
    restriction: null,
    mayCreate: true,
    ...more,
  }
}

export async function createWebhook(
  store: Store,
  ownerNo: number,
  webhookName = 'w',
  more: Partial<WebhookPut> = {},
): Promise<StoredWebhook> {
  const put = await store.putWebhook(webhookPut(ownerNo, webhookName, more))
  assert.ok(typeof put === 'object' && put.created)
  return put.value
}

export function attemptAt(at: number, status = 204): StoredAttempt {
  return { at, status, error: status === 204 ? null : `the receiver answered ${status}`, ms: 5 }
}

export function resultOf(
  eventId: number,
  state: AttemptResult['state'],
  more: Partial<AttemptResult> = {},
): AttemptResult {
  return {
    eventId,
    type: 'device.created',
    subject: `device ${eventId}`,
    tries: 1,
    state,
    attempt: attemptAt(startedAt, state === 'DELIVERED' ? 204 : 500),
    nextAt: state === 'PENDING' ? startedAt + 5000 : null,
    ...more,
  }
}

export function progressOf(webhook: StoredWebhook, more: Partial<WebhookProgress>): WebhookProgress {
  const { webhookNo, round, cursor } = webhook
  return {
    webhookNo,
    round,
    cursor,
    results: [],
    lastDeliveredAt: undefined,
    failingSince: undefined,
    pause: undefined,
    ...more,
  }
}
