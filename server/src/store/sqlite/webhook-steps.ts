// What the store does for webhooks: none of it is kept in memory, so each step goes to its thread as it is.

import type { WebhookStore } from '../../domain/webhook-store.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'

export function buildWebhookSteps(writer: WriterThread, reader: ReaderThread): WebhookStore {
  return {
    putWebhook: (put) => writer.call('putWebhook', put),
    getWebhook: (key) => reader.call('getWebhook', key),
    listWebhooks: (ownerNo, slice) => reader.call('listWebhooks', { ownerNo, slice }),
    deleteWebhook: (key) => writer.call('deleteWebhook', key),
    pauseWebhook: (key, at) => writer.call('pauseWebhook', { ...key, at }),
    resumeWebhook: (key, at) => writer.call('resumeWebhook', { ...key, at }),
    setWebhookSecret: (key, change) => writer.call('setWebhookSecret', { ...key, ...change }),
    replayWebhook: (key, replay) => writer.call('replayWebhook', { ...key, ...replay }),

    listDeliveries: (key, state, slice) => reader.call('listDeliveries', { ...key, state, slice }),
    replayDelivery: (webhookNo, replay) => writer.call('replayDelivery', { webhookNo, ...replay }),

    listActiveWebhooks: () => reader.call('listActiveWebhooks', undefined),
    getActiveWebhook: (webhookNo) => reader.call('getActiveWebhook', webhookNo),
    listPendingDeliveries: (webhookNo, slice) => reader.call('listPendingDeliveries', { webhookNo, slice }),
    listTried: (webhookNo, range) => reader.call('listTried', { webhookNo, ...range }),
    recordAttempts: (progress) => writer.call('recordAttempts', progress),
    forgetDeliveries: () => writer.call('forgetDeliveries', undefined),
  }
}
