// Webhooks: URLs that receive events.

import { Webhook, WebhookParams, WebhookSecret, webhooks } from '@jobcast/contract'
import {
  changeWebhookSecret,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  putWebhook,
  resumeWebhook,
  type WebhookDeps,
} from '../../domain/webhook/webhook.ts'
import { shownName } from '../../domain/webhook/webhook-scope.ts'
import { webhookTag } from '../../domain/webhook/webhook-tag.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { answerWebhook } from '../wire/answer-webhook.ts'
import { toWebhook } from '../wire/to-wire.ts'
import { serveResource } from './serve-resource.ts'

const url = '/job/api/webhooks/:webhookName'

export function addWebhooks(app: App, deps: WebhookDeps): void {
  serveResource(app, webhooks, {
    put: (...put) => putWebhook(deps, ...put),
    get: (...webhook) => getWebhook(deps, ...webhook),
    list: (caller, slice) => listWebhooks(deps, caller, slice),
    delete: (caller, name, before) => deleteWebhook(deps, caller, name, before),
    toView: toWebhook,
    toCreated: (webhook, ...more) => ({ ...toWebhook(webhook, ...more), secret: webhook.secret }),
    tagOf: (webhook) => webhookTag(webhook),
    makers: { of: ({ createdBy }) => createdBy, deps },
  })

  app.route({
    method: 'POST',
    url: `${url}/pause`,
    config: { scopes: ['MANAGE'], refusals: ['J-307'] },
    schema: {
      operationId: 'pauseWebhook',
      tags: ['webhooks'],
      summary: 'Pause a webhook',
      description:
        'Events that occur while it is paused are sent after `resume`, as long as they are retained.',
      params: WebhookParams,
      response: { 200: Webhook },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      return answerWebhook(deps, caller, await pauseWebhook(deps, caller, request.params.webhookName))
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/resume`,
    config: { scopes: ['MANAGE'], refusals: ['J-307'] },
    schema: {
      operationId: 'resumeWebhook',
      tags: ['webhooks'],
      summary: 'Resume a paused webhook',
      description: 'Deliveries that wait for a retry are retried immediately.',
      params: WebhookParams,
      response: { 200: Webhook },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      return answerWebhook(deps, caller, await resumeWebhook(deps, caller, request.params.webhookName))
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/secret`,
    config: { scopes: ['MANAGE'], refusals: ['J-307'] },
    schema: {
      operationId: 'changeWebhookSecret',
      tags: ['webhooks'],
      summary: 'Create a new signing secret',
      description:
        'For 24 hours requests carry two signatures: one by the new secret and one by the previous secret.',
      params: WebhookParams,
      response: { 201: WebhookSecret },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const changed = await changeWebhookSecret(deps, caller, request.params.webhookName)
      const webhookName = shownName(caller, changed.webhookName)
      return reply.code(201).send({ webhookName, secret: changed.secret })
    },
  })
}
