// Deliveries of a webhook, and replaying them.

import {
  Delivery,
  DeliveryPage,
  DeliveryParams,
  DeliveryQuery,
  parseInstant,
  ReplayRequest,
  Webhook,
  WebhookParams,
} from '@jobcast/contract'
import { listDeliveries, replayDelivery, replayWebhook } from '../../domain/replay-webhook.ts'
import type { WebhookDeps } from '../../domain/webhook.ts'
import type { App } from '../app-type.ts'
import { callerOf } from '../authenticate.ts'
import { numberSlice, toPage } from '../cursor.ts'
import { toDelivery, toWebhook } from '../to-wire.ts'

const url = '/job/api/webhooks/:webhookName'

export function addWebhookDeliveries(app: App, deps: WebhookDeps): void {
  app.route({
    method: 'GET',
    url: `${url}/deliveries`,
    config: { scopes: ['READ'], refusals: ['J-307'] },
    schema: {
      operationId: 'listDeliveries',
      tags: ['webhooks'],
      summary: 'List the deliveries of a webhook, newest event first',
      description: 'With up to 20 attempts each. Retained as long as the events.',
      params: WebhookParams,
      querystring: DeliveryQuery,
      response: {
        200: DeliveryPage,
      },
    },
    handler: async (request) => {
      const { webhookName } = request.params
      const { state } = request.query
      const slice = numberSlice(request.query)
      return toPage(await listDeliveries(deps, callerOf(request), webhookName, state, slice), toDelivery)
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/deliveries/:eventId/replay`,
    config: { scopes: ['MANAGE'], refusals: ['J-307', 'J-308'] },
    schema: {
      operationId: 'replayDelivery',
      tags: ['webhooks'],
      summary: 'Send one event again',
      description: 'Works for any retained event that was sent before or matches the webhook now.',
      params: DeliveryParams,
      response: {
        202: Delivery,
      },
    },
    handler: async (request, reply) => {
      const { webhookName, eventId } = request.params
      const delivery = await replayDelivery(deps, callerOf(request), webhookName, eventId)
      return reply.code(202).send(toDelivery(delivery))
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/replay`,
    config: { scopes: ['MANAGE'], refusals: ['J-307'] },
    schema: {
      operationId: 'replayWebhook',
      tags: ['webhooks'],
      summary: 'Send all events since an instant again',
      description: 'All retained events that match. New events follow after them.',
      params: WebhookParams,
      body: ReplayRequest,
      response: {
        202: Webhook,
      },
    },
    handler: async (request, reply) => {
      const { webhookName } = request.params
      const since = parseInstant(request.body.since)
      const caller = callerOf(request)
      const webhook = await replayWebhook(deps, caller, webhookName, since)
      return reply.code(202).send(toWebhook(webhook, caller))
    },
  })
}
