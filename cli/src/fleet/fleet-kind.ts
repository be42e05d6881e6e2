// The kinds of resources in a fleet file: their names, schemas and calls.

import { isJobcastError, type Jobcast, type WebhookContent as SentWebhook } from '@jobcast/client'
import {
  attributeProblem,
  DeviceContent,
  defaultRetry,
  deviceZone,
  GroupContent,
  isTimeZone,
  JobContent,
  maxDocumentBytes,
  NewDeviceId,
  NewJobName,
  type Rollout,
  rolloutProblem,
  ScheduleContent,
  WebhookContent,
  WindowContent,
  windowProblem,
} from '@jobcast/contract'
import {
  checkParameterSchema,
  namesUsed,
  ParameterError,
  PlaceholderError,
  parseDocument,
} from '@jobcast/contract/parameters'
import { parseSelector, SelectorError, termsOf } from '@jobcast/contract/selector'
import { type Envelope, mergeEnvelopes, requireSignatures, SignatureError } from '@jobcast/contract/signature'
import type { TObject, TString } from 'typebox'

/** JSON values. */
export type Fields = Record<string, unknown>

export type Kind = {
  /** Field in files: `jobs`. */
  field: string
  /** Singular, for messages: `job`. */
  noun: string
  /** Field of the name in a list: `jobName`. */
  nameField: string
  nameSchema: TString
  contentSchema: TObject
  /** What the schemas accept but the server rejects. */
  refusal(name: string, content: Fields): string | undefined
  /** The content as the server returns it, with defaults filled in. */
  filled(name: string, content: Fields): Fields
  /** What of it a key without MANAGE is shown, if not all. */
  shownToReaders?(fields: Fields): Fields
  /** Names of its kind that must be there before it. */
  needs?(content: Fields): string[]
  list(client: Jobcast): AsyncIterable<object>
  get(client: Jobcast, name: string): Promise<object>
  /** Returns a secret that the server has generated and shows only once. */
  put(client: Jobcast, name: string, content: Fields, isNew: boolean): Promise<string | undefined>
  remove(client: Jobcast, name: string): Promise<void>
}

const largePages = { limit: 200 }

/** As the server judges them, before anything is sent. */
function parametersProblem(document: unknown, parameters: unknown): string | undefined {
  try {
    const declared = parameters === undefined ? {} : (checkParameterSchema(parameters).properties ?? {})
    const unknown = namesUsed(parseDocument(document), 'params').find(
      (name) => !Object.hasOwn(declared, name),
    )
    return unknown && `the document has the placeholder \${params.${unknown}}, which no parameter declares`
  } catch (error) {
    if (error instanceof ParameterError) return `${error.field} ${error.message}`
    if (error instanceof PlaceholderError) return `the document cannot be resolved: ${error.message}`
    throw error
  }
}

const jobs: Kind = {
  field: 'jobs',
  noun: 'job',
  nameField: 'jobName',
  nameSchema: NewJobName,
  contentSchema: JobContent,
  refusal(name, content) {
    const { document = {}, rollout, parameters } = content
    if (name === 'execute') return 'the name "execute" is reserved'
    const problem = rollout === undefined ? undefined : rolloutProblem(rollout as Rollout)
    if (problem) return problem.detail
    const wrong = parametersProblem(document, parameters)
    if (wrong) return wrong
    const isTooLarge = Buffer.byteLength(JSON.stringify(document)) > maxDocumentBytes
    return isTooLarge ? 'the document is larger than 64 KiB' : signatureProblem(name, content)
  },
  filled: (_name, content) => ({
    description: content.description ?? '',
    document: content.document ?? {},
    parameters: content.parameters ?? null,
    expireAfterSeconds: content.expireAfterSeconds ?? null,
    timeoutSeconds: content.timeoutSeconds ?? null,
    deadlineSeconds: content.deadlineSeconds ?? null,
    retry: filledRetry(content.retry as JobContent['retry']),
    rollout: content.rollout ?? null,
    approval: content.approval ?? false,
    window: content.window ?? null,
    signatures: filledSignatures(content.signatures as JobContent['signatures']),
  }),
  list: (client) => client.jobs.list(largePages),
  get: (client, name) => client.jobs.get(name),
  async put(client, name, content) {
    await client.jobs.put(name, content)
    return undefined
  },
  remove: (client, name) => client.jobs.delete(name),
}

const devices: Kind = {
  field: 'devices',
  noun: 'device',
  nameField: 'deviceId',
  nameSchema: NewDeviceId,
  contentSchema: DeviceContent,
  refusal(_name, { attributes = {}, timeZone }) {
    for (const [name, value] of Object.entries(attributes as Fields)) {
      const problem = name === 'timeZone' ? 'is a field of its own' : attributeProblem(name, value)
      if (problem) return `attribute ${JSON.stringify(name)} ${problem}`
    }
    const isWrong = typeof timeZone === 'string' && !isTimeZone(timeZone)
    return isWrong ? 'timeZone is not the name of an IANA time zone' : undefined
  },
  filled: (name, { deviceName = name, tags = [], attributes = {}, timeZone = null }) => {
    return { deviceName, tags: sorted(tags), attributes, timeZone }
  },
  list: (client) => client.devices.list(largePages),
  get: (client, name) => client.devices.get(name),
  async put(client, name, content) {
    await client.devices.put(name, content)
    return undefined
  },
  remove: (client, name) => client.devices.delete(name),
}

const groups: Kind = {
  field: 'groups',
  noun: 'group',
  nameField: 'groupName',
  nameSchema: NewJobName,
  contentSchema: GroupContent,
  refusal(_name, { where }) {
    try {
      parseSelector(String(where))
      return undefined
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      return `where cannot be read: at position ${error.position}: ${error.message}`
    }
  },
  filled: (_name, { where, description = null }) => ({ where, description }),
  needs: ({ where }) =>
    termsOf(parseSelector(String(where))).flatMap((term) => (term.kind === 'group' ? [term.groupName] : [])),
  list: (client) => client.groups.list(largePages),
  get: (client, name) => client.groups.get(name),
  async put(client, name, content) {
    await client.groups.put(name, content as GroupContent)
    return undefined
  },
  remove: (client, name) => client.groups.delete(name),
}

const schedules: Kind = {
  field: 'schedules',
  noun: 'schedule',
  nameField: 'scheduleName',
  nameSchema: NewJobName,
  contentSchema: ScheduleContent,
  refusal(_name, { when, rollout }) {
    const { cron, at, match } = when as ScheduleContent['when']
    const given = [cron, at, match].filter((each) => each !== undefined)
    if (given.length !== 1) return 'when must have exactly one of cron, at and match'
    return rollout === undefined ? undefined : rolloutProblem(rollout as Rollout)?.detail
  },
  filled: (_name, content) => ({
    jobName: content.jobName,
    targets: content.targets,
    when: filledWhen(content.when as ScheduleContent['when']),
    version: content.version ?? null,
    parameters: content.parameters ?? {},
    description: content.description ?? null,
    rollout: content.rollout ?? null,
    approval: content.approval ?? false,
    window: content.window ?? null,
    overlap: content.overlap ?? 'SKIP',
    catchUpSeconds: content.catchUpSeconds ?? 3600,
    jitterSeconds: content.jitterSeconds ?? 0,
    pauseAfterFailures: content.pauseAfterFailures ?? null,
    until: typeof content.until === 'string' ? inUtc(content.until) : null,
  }),
  list: (client) => client.schedules.list(largePages),
  get: (client, name) => client.schedules.get(name),
  async put(client, name, content) {
    await client.schedules.put(name, content as ScheduleContent)
    return undefined
  },
  remove: (client, name) => client.schedules.delete(name),
}

const windows: Kind = {
  field: 'windows',
  noun: 'window',
  nameField: 'windowName',
  nameSchema: NewJobName,
  contentSchema: WindowContent,
  refusal(_name, content) {
    const { timeZone = deviceZone } = content
    if (timeZone !== deviceZone && !isTimeZone(String(timeZone))) {
      return 'timeZone is neither the name of an IANA time zone nor "device"'
    }
    return windowProblem(content as WindowContent)?.detail
  },
  filled: (_name, { cron, durationMinutes, timeZone = deviceZone, cutoffMinutes = 0, except = [] }) => {
    return { cron, durationMinutes, timeZone, cutoffMinutes, except }
  },
  list: (client) => client.windows.list(largePages),
  get: (client, name) => client.windows.get(name),
  async put(client, name, content) {
    await client.windows.put(name, content as WindowContent)
    return undefined
  },
  remove: (client, name) => client.windows.delete(name),
}

const webhooks: Kind = {
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

/** In the order in which they are applied: jobs and schedules may name a window, a schedule names a job. */
export const kinds: readonly Kind[] = [windows, jobs, devices, groups, schedules, webhooks]

export type Found = { name: string; fields: Fields }

export async function* readAll(kind: Kind, client: Jobcast): AsyncGenerator<Found> {
  for await (const item of kind.list(client)) yield toFound(kind, item as Fields)
}

/** Undefined if not found. */
export async function readOne(kind: Kind, client: Jobcast, name: string): Promise<Found | undefined> {
  try {
    return toFound(kind, (await kind.get(client, name)) as Fields)
  } catch (error) {
    if (isJobcastError(error) && error.status === 404 && error.code !== 'J-901') return undefined
    throw error
  }
}

/** With the same defaults as the content of a file, so that the two can be compared. */
function toFound(kind: Kind, item: Fields): Found {
  const name = String(item[kind.nameField])
  const given = Object.keys(kind.contentSchema.properties).filter((key) => (item[key] ?? null) !== null)
  const content = Object.fromEntries(given.map((key) => [key, item[key]]))
  return { name, fields: kind.filled(name, content) }
}

/** As the server fills it in; a test compares the two. */
/** As the server keeps them: one envelope. They are checked before. */
function filledSignatures(given: JobContent['signatures']): Envelope[] {
  const envelope = mergeEnvelopes(given ?? [])
  return envelope === undefined ? [] : [envelope]
}

function signatureProblem(name: string, content: Fields): string | undefined {
  try {
    requireSignatures(name, content, Date.now())
    return undefined
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return error.message
  }
}

function filledRetry(given: JobContent['retry']): Fields | null {
  if (given === undefined) return null
  const retry = { ...defaultRetry, ...given }
  return { ...retry, on: sorted(retry.on) }
}

function filledWhen({ cron, timeZone = 'UTC', at, match }: ScheduleContent['when']): Fields {
  if (cron !== undefined) return { cron, timeZone }
  return at === undefined ? { match } : { at: inUtc(at) }
}

/** As the server shows it. */
function inUtc(instant: string): string {
  return new Date(instant).toISOString()
}

/** For fields whose order has no meaning. */
function sorted(texts: unknown): string[] {
  return (texts as readonly string[]).toSorted()
}
