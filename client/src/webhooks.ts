// Webhooks: URLs that receive events.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { type PutResult, resourceCalls } from './resource-calls.ts'
import type {
  Delivery,
  ListDeliveriesQuery,
  ReplayRequest,
  Webhook,
  WebhookSecret,
  WebhookTestResult,
} from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The secret is included only if the webhook is new. */
export type PutWebhook = PutResult<'webhooks'>

export type Webhooks = ReturnType<typeof webhookCalls>

export function webhookCalls(transport: Transport) {
  const post = <T>(name: string, verb: string, more: { safe?: boolean; body?: object } & CallOptions) =>
    transport.value<T>({ method: 'POST', path: `${path`/job/api/webhooks/${name}`}/${verb}`, ...more })
  return {
    ...resourceCalls(transport, 'webhooks'),

    pause: (name: string, { signal }: CallOptions = {}): Promise<Webhook> =>
      post(name, 'pause', { safe: true, signal }),

    resume: (name: string, { signal }: CallOptions = {}): Promise<Webhook> =>
      post(name, 'resume', { safe: true, signal }),

    /** The new secret is shown only once. */
    rotateSecret: (name: string, { signal }: CallOptions = {}): Promise<WebhookSecret> =>
      post(name, 'secret', { signal }),

    /** Sends one test request now, also for a paused webhook, and resolves to its result. */
    test: (name: string, { signal }: CallOptions = {}): Promise<WebhookTestResult> =>
      post(name, 'test', { signal }),

    deliveries(
      name: string,
      query: Query<ListDeliveriesQuery> = {},
      options: CallOptions = {},
    ): List<Delivery> {
      return new List(transport, path`/job/api/webhooks/${name}/deliveries`, query, options)
    },

    /** Sends one event again. */
    replayOne: (name: string, eventId: number, { signal }: CallOptions = {}): Promise<Delivery> =>
      post(name, path`deliveries/${eventId}/replay`, { signal }),

    /** Sends all events since an instant again. */
    replaySince: (name: string, request: ReplayRequest, { signal }: CallOptions = {}): Promise<Webhook> =>
      post(name, 'replay', { body: request, signal }),
  }
}
