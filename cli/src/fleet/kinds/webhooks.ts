// Webhooks in a fleet file.

import type { WebhookContent as SentWebhook } from '@jobcast/client'
import { NewJobName, WebhookContent } from '@jobcast/contract'
import { type Kind, largePages, sorted } from './kind.ts'

export const webhooks: Kind = {
  field: 'webhooks',
  noun: 'webhook',
  nameField: 'webhookName',
  nameSchema: NewJobName,
  contentSchema: WebhookContent,
  refusal: (_name, { url }) => (URL.canParse(String(url)) ? undefined : 'url is not a valid URL'),
  filled: (_name, { url, eventTypes = [], jobName = null, deviceId = null }) => ({
    url,
    eventTypes: sorted(eventTypes),
    jobName,
    deviceId,
  }),
  shownToReaders: ({ url, ...fields }) => ({ ...fields, url: new URL(String(url)).origin }),
  list: (client) => client.webhooks.list(largePages),
  get: (client, name) => client.webhooks.get(name),
  // The service never returns an existing secret, so it cannot be compared: one in a file is used only for a new webhook.
  async put(client, name, { secret, ...content }, isNew) {
    const given = { ...content, ...(isNew && { secret }) } as SentWebhook
    const { created, value } = await client.webhooks.put(name, given)
    return created && given.secret === undefined ? value.secret : undefined
  },
  remove: (client, name) => client.webhooks.delete(name),
}
