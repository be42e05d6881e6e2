// A webhook: a URL that receives events, signed according to Standard Webhooks.

import Type, { type Static } from 'typebox'
import { eventPatterns } from '../event.ts'
import { Page, PageQuery } from '../page.ts'
import { GivenInstant, Instant, makerFields, mustBe, Name, NewJobName, orNull } from '../text.ts'
import type { Resource } from './resource.ts'

const EventPattern = Type.String({ enum: [...eventPatterns] })
const Secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
  [mustBe]: 'whsec_ followed by 24 to 64 bytes in base64',
  description: '`whsec_` followed by 24 to 64 bytes in base64',
})

/** `slack` and `teams` are for people: one sentence per message, and at most one message about the executions of a run. */
export const webhookFormats = ['jobcast', 'slack', 'teams', 'cloudevents'] as const
export type WebhookFormat = (typeof webhookFormats)[number]
const format = Type.Unsafe<WebhookFormat>({
  type: 'string',
  enum: [...webhookFormats],
  description:
    '`jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence for people with a link to the console; executions are reported with their run, once it has finished',
})

/** The whole content of a webhook: PUT resets omitted fields, except the secret. */
export const WebhookContent = Type.Object(
  {
    url: Type.String({
      pattern: '^https?://[^\\s\\p{Cc}\\p{Cs}]+$',
      [mustBe]: 'an http or https URL without spaces',
      maxLength: 2000,
      description: 'Where events are sent, by POST',
    }),
    eventTypes: Type.Optional(
      Type.Array(EventPattern, {
        maxItems: 50,
        uniqueItems: true,
        description:
          'Only these types; `execution.*` matches all types of a noun. Default: all events except those about access; with the formats `slack` and `teams` those that matter to people',
      }),
    ),
    jobName: Type.Optional(Type.String({ ...Name, description: 'Only events of this job' })),
    deviceId: Type.Optional(Type.String({ ...Name, description: 'Only events of this device' })),
    format: Type.Optional(Type.Unsafe<WebhookFormat>({ ...format, default: 'jobcast' })),
    secret: Type.Optional(
      Type.String({
        ...Secret,
        description: 'Signing secret; generated if omitted. It is never shown again',
      }),
    ),
  },
  {
    title: 'WebhookContent',
    additionalProperties: false,
    examples: [{ url: 'https://example.com/jobcast', eventTypes: ['execution.failed', 'run.finished'] }],
  },
)
export type WebhookContent = Static<typeof WebhookContent>

export const webhookStates = ['ACTIVE', 'PAUSED'] as const
export type WebhookState = (typeof webhookStates)[number]
/** `owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a day. */
export const pauseReasons = ['owner', 'gone', 'failing'] as const
export type PauseReason = (typeof pauseReasons)[number]

export const DeliveryAttempt = Type.Object(
  {
    at: Instant,
    status: orNull(Type.Integer(), { description: 'HTTP status; null if there was no response' }),
    error: orNull(Type.String(), {
      description:
        'Why the attempt failed, with the first 200 characters of the response; null if it succeeded. `could not connect` if the host name does not resolve, has no permitted address, or refuses connections: the log of the service has the reason',
    }),
    ms: Type.Integer({
      description: 'Duration in milliseconds; rounded up to whole seconds if there was no connection',
    }),
  },
  { title: 'DeliveryAttempt' },
)
export type DeliveryAttempt = Static<typeof DeliveryAttempt>

const { at, status, error, ms } = DeliveryAttempt.properties
const WebhookFailure = Type.Object({ at, status, error: Type.String() }, { title: 'WebhookFailure' })

const webhookFields = {
  webhookName: Type.String(),
  url: Type.String({
    description: 'All of it for keys with the scope `MANAGE`; for others only the scheme and host',
  }),
  eventTypes: Type.Array(Type.String()),
  jobName: orNull(Type.String()),
  deviceId: orNull(Type.String()),
  format,
  jobs: orNull(Type.Array(Type.String()), {
    description:
      'The jobs that its events are restricted to, as the key that created it was; null: all. Cannot be changed',
  }),
  where: orNull(Type.String(), {
    description:
      'The selector of the devices that its events are restricted to, as the key that created it was; null: all. Cannot be ' +
      'changed',
  }),
  state: Type.Unsafe<WebhookState>({ type: 'string', enum: [...webhookStates] }),
  pausedBecause: orNull(Type.Unsafe<PauseReason>({ type: 'string', enum: [...pauseReasons] }), {
    description:
      '`owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a day',
  }),
  pausedAt: orNull(Instant),
  lastDeliveredAt: orNull(Instant, { description: 'Last successful delivery' }),
  failingSince: orNull(Instant, { description: 'Since when deliveries fail; null while they succeed' }),
  lastFailure: orNull(WebhookFailure, {
    description:
      'The last unsuccessful attempt of any event: its status and error as in the delivery log. It is kept when later events are accepted',
  }),
  createdAt: Instant,
  updatedAt: Instant,
  ...makerFields,
}

export const Webhook = Type.Object(webhookFields, { title: 'Webhook' })
export type Webhook = Static<typeof Webhook>

export const CreatedWebhook = Type.Object(
  { ...webhookFields, secret: Type.String({ description: 'Signing secret. It is shown only once' }) },
  { title: 'CreatedWebhook' },
)
export type CreatedWebhook = Static<typeof CreatedWebhook>

export const WebhookSecret = Type.Object(
  {
    webhookName: Type.String(),
    secret: Type.String({
      description: 'The new secret. It is shown only once; for 24 hours the previous secret signs as well',
    }),
  },
  { title: 'WebhookSecret' },
)
export type WebhookSecret = Static<typeof WebhookSecret>

export const WebhookParams = Type.Object({ webhookName: NewJobName })

export const deliveryStates = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type DeliveryState = (typeof deliveryStates)[number]
const deliveryState = Type.Unsafe<DeliveryState>({ type: 'string', enum: [...deliveryStates] })

export const Delivery = Type.Object(
  {
    eventId: Type.Integer(),
    type: Type.String(),
    state: deliveryState,
    attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first' }),
    nextAttemptAt: orNull(Instant),
  },
  { title: 'Delivery' },
)
export type Delivery = Static<typeof Delivery>

export const DeliveryQuery = Type.Object(
  { ...PageQuery.properties, state: Type.Optional(deliveryState) },
  { additionalProperties: false },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>
export const DeliveryParams = Type.Object({
  ...WebhookParams.properties,
  eventId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
})
export const DeliveryPage = Page(Delivery)

export const WebhookTestResult = Type.Object(
  { status, error, ms },
  { title: 'WebhookTestResult', examples: [{ status: 204, error: null, ms: 85 }] },
)
export type WebhookTestResult = Static<typeof WebhookTestResult>

export const TestEvent = Type.Object(
  {
    eventId: Type.Literal(0),
    type: Type.Literal('webhook.test'),
    timestamp: Instant,
    data: Type.Object({ webhookName: Type.String() }),
  },
  { title: 'TestEvent', description: 'A request to try a webhook; not an event of the event log' },
)
export type TestEvent = Static<typeof TestEvent>

/** The body of a webhook with the format `cloudevents`. */
export const CloudEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ description: 'The header `webhook-id`' }),
    source: Type.String({
      description: 'The setting `public-url`; without it, `urn:jobcast:` and the ownerId',
    }),
    type: Type.String({ description: 'The type of the event with the prefix `jobcast.`' }),
    subject: Type.String({ description: 'What the event is about, such as `run 7`' }),
    time: Instant,
    datacontenttype: Type.Literal('application/json'),
    summary: Type.String({ description: 'The event in one sentence' }),
    consoleurl: Type.Optional(Type.String({ description: 'The page of the console that shows more' })),
    data: Type.Object({}, { description: 'The data of the event' }),
  },
  { title: 'CloudEvent' },
)
export type CloudEvent = Static<typeof CloudEvent>

export const ReplayRequest = Type.Object(
  { since: Type.String({ ...GivenInstant, description: 'Events from this instant on are sent again' }) },
  { title: 'ReplayRequest', additionalProperties: false, examples: [{ since: '2026-11-15T09:30:00Z' }] },
)
export type ReplayRequest = Static<typeof ReplayRequest>

const urlIsHidden =
  'Without the scope `MANAGE`, `url` is only the scheme and host: its path may hold a secret.'

export const webhooks = {
  name: 'webhooks',
  noun: 'webhook',
  about: 'Webhooks',
  key: 'webhookName',
  params: WebhookParams,
  content: WebhookContent,
  view: Webhook,
  created: CreatedWebhook,
  shownOnce: 'secret',
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 'webhooks',
  notFound: 'J-307',
  refusals: { put: ['J-307', 'J-814'] },
  events: { created: 'webhook.created', updated: 'webhook.updated', deleted: 'webhook.deleted' },
  texts: {
    put:
      'A new webhook receives events that occur after it was created. A replaced webhook keeps its position, its ' +
      'secret unless you set another one, and stays paused if it is paused. At most 100 per owner. A webhook that a restricted key creates sends only events inside ' +
      'the restriction, and its name ends with @ and a tag of the restriction, which keys with the same restriction leave ' +
      'out.',
    get: urlIsHidden,
    list: urlIsHidden,
    gone: 'a webhook and its deliveries',
  },
} as const satisfies Resource
