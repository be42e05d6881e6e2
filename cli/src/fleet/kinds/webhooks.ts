// Webhooks in a fleet file.

import type { WebhookContent as SentWebhook } from '@jobcast/client'
import { webhooks } from '@jobcast/contract'
import { kindOf, sorted } from './kind.ts'

export const webhookKind = kindOf(webhooks, {
  refusal: (_name, { url }) => (URL.canParse(String(url)) ? undefined : 'url is not a valid URL'),
  filled: (_name, { url, eventTypes = [], jobName = null, deviceId = null, format = 'jobcast' }) => ({
    url,
    eventTypes: sorted(eventTypes),
    jobName,
    deviceId,
    format,
  }),
  shownToReaders: ({ url, ...fields }) => ({ ...fields, url: new URL(String(url)).origin }),
  // The service never returns an existing secret, so it cannot be compared: the secret in a file is used only for a new webhook.
  async put(client, name, { secret, ...content }, isNew) {
    const given = { ...content, ...(isNew && { secret }) } as SentWebhook
    const { created, value } = await client.webhooks.put(name, given)
    return created && given.secret === undefined ? value.secret : undefined
  },
})
