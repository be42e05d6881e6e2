// What a fleet file can hold: each kind with its words, its schemas and its calls.

import { isJobcastError, type Jobcast, type WebhookContent as SentWebhook } from '@jobcast/client'
import {
  DeviceContent,
  defaultRetry,
  JobContent,
  maxDocumentBytes,
  NewDeviceId,
  NewJobName,
  WebhookContent,
} from '@jobcast/contract'
import type { TObject, TString } from 'typebox'

/** As JSON knows them. */
export type Fields = Record<string, unknown>

export type Kind = {
  /** In files: `jobs`. */
  field: string
  /** In sentences: `job`. */
  word: string
  /** What holds the name in a list: `jobName`. */
  nameField: string
  nameSchema: TString
  contentSchema: TObject
  /** What the schemas let through and the server does not. */
  refusal(name: string, content: Fields): string | undefined
  /** What the server shows once it has this content: what is left out is filled in. */
  filled(name: string, content: Fields): Fields
  list(client: Jobcast): AsyncIterable<object>
  get(client: Jobcast, name: string): Promise<object>
  /** Gives a secret that the server has made and shows this once. */
  put(client: Jobcast, name: string, content: Fields, isNew: boolean): Promise<string | undefined>
  remove(client: Jobcast, name: string): Promise<void>
}

const wholePages = { limit: 200 }

const jobs: Kind = {
  field: 'jobs',
  word: 'job',
  nameField: 'jobName',
  nameSchema: NewJobName,
  contentSchema: JobContent,
  refusal(name, { document = {} }) {
    if (name === 'execute') return 'no job can be named execute'
    const isTooLarge = Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes
    return isTooLarge ? 'its document is larger than 64 KiB' : undefined
  },
  filled: (_name, content) => ({
    description: content.description ?? '',
    document: content.document ?? {},
    expireAfterSeconds: content.expireAfterSeconds ?? null,
    timeoutSeconds: content.timeoutSeconds ?? null,
    deadlineSeconds: content.deadlineSeconds ?? null,
    retry: filledRetry(content.retry as JobContent['retry']),
  }),
  list: (client) => client.jobs.list(wholePages),
  get: (client, name) => client.jobs.get(name),
  async put(client, name, content) {
    await client.jobs.put(name, content)
    return undefined
  },
  remove: (client, name) => client.jobs.delete(name),
}

const devices: Kind = {
  field: 'devices',
  word: 'device',
  nameField: 'deviceId',
  nameSchema: NewDeviceId,
  contentSchema: DeviceContent,
  refusal: () => undefined,
  filled: (name, { deviceName = name, tags = [] }) => ({ deviceName, tags: sorted(tags) }),
  list: (client) => client.devices.list(wholePages),
  get: (client, name) => client.devices.get(name),
  async put(client, name, content) {
    await client.devices.put(name, content)
    return undefined
  },
  remove: (client, name) => client.devices.delete(name),
}

const webhooks: Kind = {
  field: 'webhooks',
  word: 'webhook',
  nameField: 'webhookName',
  nameSchema: NewJobName,
  contentSchema: WebhookContent,
  refusal: (_name, { url }) => (URL.canParse(String(url)) ? undefined : 'its url is not a URL'),
  filled: (_name, { url, eventTypes = [], jobName = null, deviceId = null }) => ({
    url,
    eventTypes: sorted(eventTypes),
    jobName,
    deviceId,
  }),
  list: (client) => client.webhooks.list(wholePages),
  get: (client, name) => client.webhooks.get(name),
  // No answer shows a secret that is there, so it cannot be compared: one in a file is for a webhook that is new.
  async put(client, name, { secret, ...content }, isNew) {
    const given = { ...content, ...(isNew && { secret }) } as SentWebhook
    const { created, value } = await client.webhooks.put(name, given)
    return created && given.secret === undefined ? value.secret : undefined
  },
  remove: (client, name) => client.webhooks.delete(name),
}

/** In the order in which they are carried out. */
export const kinds: readonly Kind[] = [jobs, devices, webhooks]

export type Found = { name: string; fields: Fields }

export async function* readAll(kind: Kind, client: Jobcast): AsyncGenerator<Found> {
  for await (const item of kind.list(client)) yield toFound(kind, item as Fields)
}

/** Undefined where there is none. */
export async function readOne(kind: Kind, client: Jobcast, name: string): Promise<Found | undefined> {
  try {
    return toFound(kind, (await kind.get(client, name)) as Fields)
  } catch (error) {
    if (isJobcastError(error) && error.status === 404 && error.code !== 'J-901') return undefined
    throw error
  }
}

/** Through the same filling as what a file says, so that equal things look equal. */
function toFound(kind: Kind, item: Fields): Found {
  const name = String(item[kind.nameField])
  const given = Object.keys(kind.contentSchema.properties).filter((key) => (item[key] ?? null) !== null)
  const content = Object.fromEntries(given.map((key) => [key, item[key]]))
  return { name, fields: kind.filled(name, content) }
}

/** As the server fills it in; a test holds the two against each other. */
function filledRetry(given: JobContent['retry']): Fields | null {
  if (given === undefined) return null
  const retry = { ...defaultRetry, ...given }
  return { ...retry, on: sorted(retry.on) }
}

/** Where the order says nothing. */
function sorted(texts: unknown): string[] {
  return (texts as readonly string[]).toSorted()
}
