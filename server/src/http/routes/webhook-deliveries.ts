// Deliveries of a webhook, replays, and test requests.

import {
  Delivery,
  DeliveryPage,
  DeliveryParams,
  DeliveryQuery,
  parseInstant,
  ReplayRequest,
  Webhook,
  WebhookParams,
  WebhookTestResult,
} from '@jobcast/contract'
import { listDeliveries, replayDelivery, replayWebhook } from '../../domain/webhook/replay-webhook.ts'
import { testWebhook, type WebhookDeps } from '../../domain/webhook/webhook.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { answerWebhook } from '../wire/answer-webhook.ts'
import { numberSlice, toPage } from '../wire/cursor.ts'
import { toDelivery } from '../wire/to-wire.ts'

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
      return reply.code(202).send(await answerWebhook(deps, caller, webhook))
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/test`,
    config: { scopes: ['MANAGE'], refusals: ['J-307', 'J-908', 'J-910'] },
    schema: {
      operationId: 'testWebhook',
      tags: ['webhooks'],
      summary: 'Send a test request now',
      description:
        'Sends one signed request of type `webhook.test` to the URL of the webhook, even if it is paused, and returns the ' +
        'result, after up to 16 seconds. It is not an event: nothing is stored, and nothing is sent again.',
      params: WebhookParams,
      response: {
        200: WebhookTestResult,
      },
    },
    handler: (request) => testWebhook(deps, callerOf(request), request.params.webhookName),
  })
}
