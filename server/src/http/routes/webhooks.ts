// Webhooks: URLs that receive events.

import {
  CreatedWebhook,
  PageQuery,
  Webhook,
  WebhookContent,
  WebhookPage,
  WebhookParams,
  WebhookSecret,
} from '@jobcast/contract'
import {
  changeWebhookSecret,
  deleteWebhook,
  getWebhook,
  pauseWebhook,
  putWebhook,
  resumeWebhook,
  type WebhookDeps,
} from '../../domain/webhook/webhook.ts'
import { webhookTag } from '../../domain/webhook/webhook-tag.ts'
import { callerOf } from '../access/authenticate.ts'
import type { App } from '../app-type.ts'
import { noContent } from '../openapi/openapi.ts'
import { textSlice, toPage } from '../wire/cursor.ts'
import { etagHeader, expectedTags, IfMatchHeaders, quoted } from '../wire/if-match.ts'
import { toWebhook } from '../wire/to-wire.ts'

const url = '/job/api/webhooks/:webhookName'
const urlIsHidden =
  'Without the scope `MANAGE`, `url` is only the scheme and host: its path may hold a secret.'

export function addWebhooks(app: App, deps: WebhookDeps): void {
  app.route({
    method: 'PUT',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-312', 'J-912'] },
    schema: {
      operationId: 'putWebhook',
      tags: ['webhooks'],
      summary: 'Create or replace a webhook',
      description:
        'A new webhook receives events that occur after it was created. A replaced webhook keeps its position, its ' +
        'secret unless you set another one, and stays paused if it is paused. At most 100 per owner.',
      params: WebhookParams,
      headers: IfMatchHeaders,
      body: WebhookContent,
      response: {
        200: { ...Webhook, description: 'Replaced', headers: etagHeader },
        201: { ...CreatedWebhook, description: 'Created', headers: etagHeader },
      },
    },
    handler: async (request, reply) => {
      const { webhookName } = request.params
      const caller = callerOf(request)
      const ifMatch = expectedTags(request)
      const { created, value } = await putWebhook(deps, caller, webhookName, request.body, ifMatch)
      reply.header('etag', quoted(webhookTag(value)))
      if (!created) return reply.code(200).send(toWebhook(value, caller))
      return reply.code(201).send({ ...toWebhook(value, caller), secret: value.secret })
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { scopes: ['READ'], refusals: ['J-307'] },
    schema: {
      operationId: 'getWebhook',
      tags: ['webhooks'],
      summary: 'Get a webhook',
      description: urlIsHidden,
      params: WebhookParams,
      response: { 200: { ...Webhook, headers: etagHeader } },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const webhook = await getWebhook(deps, caller, request.params.webhookName)
      return reply.header('etag', quoted(webhookTag(webhook))).send(toWebhook(webhook, caller))
    },
  })

  app.route({
    method: 'GET',
    url: '/job/api/webhooks',
    config: { scopes: ['READ'] },
    schema: {
      operationId: 'listWebhooks',
      tags: ['webhooks'],
      summary: 'List webhooks, ordered by name',
      description: urlIsHidden,
      querystring: PageQuery,
      response: { 200: WebhookPage },
    },
    handler: async (request) => {
      const caller = callerOf(request)
      const { ownerNo } = caller
      const found = await deps.store.listWebhooks({ ownerNo, slice: textSlice(request.query) })
      return toPage(found, (webhook) => toWebhook(webhook, caller))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: { scopes: ['MANAGE'], refusals: ['J-307', 'J-312'] },
    schema: {
      operationId: 'deleteWebhook',
      tags: ['webhooks'],
      summary: 'Delete a webhook and its deliveries',
      params: WebhookParams,
      headers: IfMatchHeaders,
      response: { 204: noContent('Deleted') },
    },
    handler: async (request, reply) => {
      await deleteWebhook(deps, callerOf(request), request.params.webhookName, expectedTags(request))
      return reply.code(204).send(undefined)
    },
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
      return toWebhook(await pauseWebhook(deps, caller, request.params.webhookName), caller)
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
      return toWebhook(await resumeWebhook(deps, caller, request.params.webhookName), caller)
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
      const { webhookName } = request.params
      const { secret } = await changeWebhookSecret(deps, callerOf(request), webhookName)
      return reply.code(201).send({ webhookName, secret })
    },
  })
}
