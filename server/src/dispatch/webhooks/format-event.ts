// The body of a webhook request, in the format of the webhook.

import type { CloudEvent, TestEvent, WebhookFormat } from '@jobcast/contract'
import { type StoredEvent, subjectOf, toWireEvent } from '../../domain/event/event.ts'
import { breakLinks } from '../../domain/webhook/break-links.ts'
import { describeEvent, linkTo } from '../../domain/webhook/describe-event.ts'
import { isChat } from '../../domain/webhook/is-chat.ts'
import type { StoredWebhook } from '../../domain/webhook/ports/webhooks.ts'
import { type FactsStore, readRunFacts } from '../../domain/webhook/read-run-facts.ts'
import { eventMessageId } from '../../domain/webhook/sign-webhook.ts'

export type FormatDeps = { store: FactsStore; publicUrl: string | undefined }
type Formatted = { body: string; contentType?: string }
type Message = { text: string; link: string | undefined }

export async function formatEvent(
  { store, publicUrl }: FormatDeps,
  webhook: StoredWebhook,
  event: StoredEvent,
): Promise<Formatted> {
  const { format, ownerId } = webhook
  const wire = toWireEvent(event)
  if (format === 'jobcast') return { body: JSON.stringify(wire) }
  const facts = isChat(format) ? await readRunFacts(store, webhook, event) : undefined
  const quote = isChat(format) ? breakLinks : undefined
  const message = { text: describeEvent(event, facts, quote), link: linkTo(event, publicUrl, facts) }
  const id = eventMessageId(event.eventId)
  const { type, timestamp, data } = wire
  const source = sourceOf(publicUrl, ownerId)
  return formatted(format, message, { id, source, type, subject: subjectOf(event), timestamp, data })
}

export function formatTest(
  { format, ownerId }: StoredWebhook,
  event: TestEvent,
  id: string,
  publicUrl: string | undefined,
): Formatted {
  if (format === 'jobcast') return { body: JSON.stringify(event) }
  const { type, timestamp, data } = event
  const text = `This is a test of the webhook ${data.webhookName}.`
  const link = publicUrl && `${publicUrl}/webhooks/${encodeURIComponent(data.webhookName)}`
  const subject = `webhook ${data.webhookName}`
  const source = sourceOf(publicUrl, ownerId)
  return formatted(format, { text, link }, { id, source, type, subject, timestamp, data })
}

/** Event ids are unique within a service, ownerIds among all services. */
const sourceOf = (publicUrl: string | undefined, ownerId: string) => publicUrl ?? `urn:jobcast:${ownerId}`

type Cloud = {
  id: string
  source: string
  type: string
  subject: string
  timestamp: string
  data: object
}

function formatted(format: Exclude<WebhookFormat, 'jobcast'>, message: Message, cloud: Cloud): Formatted {
  if (format === 'slack') return { body: JSON.stringify({ text: slackText(message) }) }
  if (format === 'teams') return { body: JSON.stringify(teamsMessage(message)) }
  return { body: JSON.stringify(cloudEvent(message, cloud)), contentType: 'application/cloudevents+json' }
}

/**
 * Slack reads three characters as markup; a name or a device's reason must not become a link or a mention. Formatting
 * characters have no escape and are replaced by their full-width forms, underscores only outside of words.
 */
function slackText({ text, link }: Message): string {
  const plain = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (found) => wide[found] ?? found)
  return link === undefined ? plain : `${plain} <${link}|Open in Jobcast>`
}

const wide: Readonly<Record<string, string>> = { '*': '\uff0a', _: '\uff3f', '~': '\uff5e', '`': '\uff40' }

/** The envelope that Teams workflows and incoming webhooks accept. */
function teamsMessage({ text, link }: Message): object {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text: plainInMarkdown(text), wrap: true }],
    ...(link !== undefined && {
      actions: [{ type: 'Action.OpenUrl', title: 'Open in Jobcast', url: link }],
    }),
  }
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}

/** A text block is Markdown, so characters that could form a link or formatting are escaped. */
function plainInMarkdown(text: string): string {
  return text.replace(/[\\`*_~[\]<>]/g, '\\$&')
}

/** Structured mode. `summary` and `consoleurl` are extensions. */
function cloudEvent({ text, link }: Message, cloud: Cloud): CloudEvent {
  const { id, source, type, subject, timestamp, data } = cloud
  return {
    specversion: '1.0',
    id,
    source,
    type: `jobcast.${type}`,
    subject,
    time: timestamp,
    datacontenttype: 'application/json',
    summary: text,
    ...(link !== undefined && { consoleurl: link }),
    data,
  }
}
