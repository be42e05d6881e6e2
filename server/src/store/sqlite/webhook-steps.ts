// What the store does for webhooks: none of it is kept in memory, so each step goes to its thread as it is.

import type { WebhookStore } from '../../domain/webhook-store.ts'
import type { ReaderThread, WriterThread } from './database-thread.ts'

export function buildWebhookSteps(writer: WriterThread, reader: ReaderThread): WebhookStore {
  return {
    putWebhook: (put) => writer.call('putWebhook', put),
    getWebhook: (key) => reader.call('getWebhook', key),
    listWebhooks: (list) => reader.call('listWebhooks', list),
    deleteWebhook: (key) => writer.call('deleteWebhook', key),
    pauseWebhook: (change) => writer.call('pauseWebhook', change),
    resumeWebhook: (change) => writer.call('resumeWebhook', change),
    setWebhookSecret: (change) => writer.call('setWebhookSecret', change),
    replayWebhook: (replay) => writer.call('replayWebhook', replay),

    listDeliveries: (list) => reader.call('listDeliveries', list),
    replayDelivery: (replay) => writer.call('replayDelivery', replay),

    listActiveWebhooks: () => reader.call('listActiveWebhooks', undefined),
    getActiveWebhook: ({ webhookNo }) => reader.call('getActiveWebhook', webhookNo),
    listPendingDeliveries: (list) => reader.call('listPendingDeliveries', list),
    listTried: (range) => reader.call('listTried', range),
    recordAttempts: (progress) => writer.call('recordAttempts', progress),
    purgeDeliveries: () => writer.call('purgeDeliveries', undefined),
  }
}
