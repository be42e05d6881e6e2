// Webhooks: URLs that receive events.

import { List, type Query } from './list.ts'
import { path } from './path.ts'
import { remove } from './put.ts'
import type {
  CreatedWebhook,
  Delivery,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  ReplayRequest,
  Webhook,
  WebhookContent,
  WebhookSecret,
  WebhookTestResult,
} from './schemas.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The secret is included only if the webhook is new. */
export type PutWebhook = { created: true; value: CreatedWebhook } | { created: false; value: Webhook }

export class Webhooks {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Creates or replaces the webhook; an existing secret is kept. Without a given secret the call is not retried after a
   * lost answer, because the generated secret would be lost unnoticed.
   */
  async put(name: string, content: WebhookContent, { signal }: CallOptions = {}): Promise<PutWebhook> {
    const { status, value } = await this.#transport.answer<CreatedWebhook | Webhook>({
      method: 'PUT',
      path: path`/job/api/webhooks/${name}`,
      body: content,
      safe: content.secret !== undefined,
      signal,
    })
    return status === 201 ? { created: true, value: value as CreatedWebhook } : { created: false, value }
  }

  get(name: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#transport.value({ method: 'GET', path: path`/job/api/webhooks/${name}`, signal })
  }

  list(query: Query<ListWebhooksQuery> = {}, options: CallOptions = {}): List<Webhook> {
    return new List(this.#transport, '/job/api/webhooks', query, options)
  }

  delete(name: string, { signal }: CallOptions = {}): Promise<void> {
    return remove(this.#transport, { path: path`/job/api/webhooks/${name}`, signal })
  }

  pause(name: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/webhooks/${name}/pause`,
      safe: true,
      signal,
    })
  }

  resume(name: string, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/webhooks/${name}/resume`,
      safe: true,
      signal,
    })
  }

  /** The new secret is shown only once. */
  rotateSecret(name: string, { signal }: CallOptions = {}): Promise<WebhookSecret> {
    return this.#transport.value({ method: 'POST', path: path`/job/api/webhooks/${name}/secret`, signal })
  }

  /** Sends one test request now, also of a paused webhook, and resolves to what came of it. */
  test(name: string, { signal }: CallOptions = {}): Promise<WebhookTestResult> {
    return this.#transport.value({ method: 'POST', path: path`/job/api/webhooks/${name}/test`, signal })
  }

  deliveries(
    name: string,
    query: Query<ListDeliveriesQuery> = {},
    options: CallOptions = {},
  ): List<Delivery> {
    return new List(this.#transport, path`/job/api/webhooks/${name}/deliveries`, query, options)
  }

  /** Sends one event again. */
  replayOne(name: string, eventId: number, { signal }: CallOptions = {}): Promise<Delivery> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/webhooks/${name}/deliveries/${eventId}/replay`,
      signal,
    })
  }

  /** Sends all events since an instant again. */
  replaySince(name: string, request: ReplayRequest, { signal }: CallOptions = {}): Promise<Webhook> {
    return this.#transport.value({
      method: 'POST',
      path: path`/job/api/webhooks/${name}/replay`,
      body: request,
      signal,
    })
  }
}
