// A device runs executions. Its deviceId is unique within its owner.

import Type, { type Static } from 'typebox'
import { AttributeChanges, Attributes, AttributeValue, TimeZone } from '../attributes.ts'
import { PageQuery } from '../page.ts'
import { Instant, Name, NewDeviceId, orNull } from '../text.ts'
import { Where } from './groups.ts'
import type { Resource } from './resource.ts'
import { WindowName } from './windows.ts'

export const maxTags = 50
export const Tags = Type.Array(Name, { maxItems: maxTags, uniqueItems: true })

/** The whole content of a device: PUT resets omitted fields (deviceName to deviceId, all others to none). */
export const DeviceContent = Type.Object(
  {
    deviceName: Type.Optional(Name),
    tags: Type.Optional(Tags),
    attributes: Type.Optional(Attributes),
    timeZone: Type.Optional(orNull(TimeZone)),
    window: Type.Optional(
      orNull(WindowName, {
        description: 'Name of a window: the device is offered work only while it is open',
      }),
    ),
  },
  {
    title: 'DeviceContent',
    additionalProperties: false,
    examples: [
      {
        deviceName: 'Kiosk 1, Berlin',
        tags: ['kiosk', 'berlin'],
        attributes: { site: 'berlin', model: 3 },
        timeZone: 'Europe/Berlin',
      },
    ],
  },
)
export type DeviceContent = Static<typeof DeviceContent>

/** RFC 7396: omitted fields keep their value, null removes a field. */
export const DevicePatch = Type.Object(
  {
    deviceName: Type.Optional(orNull(Name, { description: 'null: the deviceId' })),
    tags: Type.Optional(orNull(Tags, { description: 'Replaces all tags; null: none' })),
    attributes: Type.Optional(
      orNull(AttributeChanges, { description: 'Each attribute: its new value, or null to remove it' }),
    ),
    timeZone: Type.Optional(orNull(TimeZone)),
    window: Type.Optional(orNull(WindowName)),
  },
  {
    title: 'DevicePatch',
    additionalProperties: false,
    examples: [{ attributes: { site: 'lima', model: null } }],
  },
)
export type DevicePatch = Static<typeof DevicePatch>

const transports = ['mqtt', 'websocket', 'http', 'bridge'] as const
type Transport = (typeof transports)[number]

export const Device = Type.Object(
  {
    deviceId: Type.String(),
    deviceName: Type.String(),
    tags: Type.Array(Type.String()),
    attributes: Type.Record(Type.String(), AttributeValue, {
      description: 'Attributes that its owner has set',
      examples: [{ site: 'berlin' }],
    }),
    reportedAttributes: Type.Record(Type.String(), AttributeValue, {
      description:
        "Attributes that it has reported itself; for equal names the owner's value takes precedence",
      examples: [{ fw: '2.4.0' }],
    }),
    timeZone: orNull(Type.String(), {
      description: 'Time zone set by its owner; null: the time zone it reports, otherwise UTC',
    }),
    window: orNull(Type.String(), {
      description: 'Window of the device itself; windows of its groups apply as well',
    }),
    credentialCreatedAt: orNull(Instant, {
      description: 'When its current token was created; null if it has none',
    }),
    credentialCreatedBy: orNull(Type.String({ examples: ['key:3f9aZ0qLxw'] }), {
      description:
        'Who created its current token: `key:<keyId>` or `enrollment:<enrollmentId>`. Null if it has none, or if this was not recorded',
    }),
    credentialCreatedByName: orNull(Type.String({ examples: ['gates'] }), {
      description:
        'The name of the key, the person or the enrollment in `credentialCreatedBy`; null if it has none, or is a key of another owner',
    }),
    certificateRevokedAt: orNull(Instant, {
      description:
        'Since when client certificates of this device are rejected. A new token does not change it; ' +
        'POST …/allow-certificate does',
    }),
    online: Type.Boolean(),
    since: orNull(Instant, {
      description: 'Start of the current online or offline period; null if it never connected',
    }),
    lastSeenAt: orNull(Instant, { description: 'When it last sent anything' }),
    transport: orNull(Type.Unsafe<Transport>({ type: 'string', enum: [...transports] }), {
      description: 'Transport by which the device is, or was last, connected',
    }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Device' },
)
export type Device = Static<typeof Device>

export const DeviceParams = Type.Object({ deviceId: NewDeviceId })

export const DeviceQuery = Type.Object(
  {
    ...PageQuery.properties,
    tag: Type.Optional(Name),
    where: Type.Optional(Where),
    online: Type.Optional(
      Type.Boolean({ description: 'Only devices that are (true) or are not (false) online' }),
    ),
  },
  { additionalProperties: false },
)
export type DeviceQuery = Static<typeof DeviceQuery>

export const DeviceCredential = Type.Object(
  {
    deviceId: Type.String(),
    deviceToken: Type.String({
      description: 'The token. It is shown only once and replaces the previous one',
    }),
  },
  { title: 'DeviceCredential' },
)
export type DeviceCredential = Static<typeof DeviceCredential>

export const devices = {
  name: 'devices',
  noun: 'device',
  about: 'Devices, credentials and enrollments',
  key: 'deviceId',
  params: DeviceParams,
  content: DeviceContent,
  view: Device,
  query: DeviceQuery,
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 'devices',
  notFound: 'J-001',
  refusals: { put: ['J-311', 'J-908'], list: ['J-309', 'J-503'] },
  events: { created: 'device.created', updated: 'device.updated', deleted: 'device.deleted' },
  texts: {
    put: 'A deviceId has at most 128 characters and none of / + # ?.',
    list:
      'With `where` a page may have fewer items than `limit`, even none, before the last one: continue while there is a ' +
      '`nextCursor`.',
    delete: 'Its unfinished executions are CANCELED, its credential is revoked and it is disconnected.',
  },
} as const satisfies Resource
