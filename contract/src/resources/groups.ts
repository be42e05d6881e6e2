// A group is a named selector.

import Type, { type Static } from 'typebox'
import { changeFields, Instant, mustBe, NewJobName, orNull, Prose } from '../text.ts'
import type { Resource } from './resource.ts'
import { WindowName } from './windows.ts'

/** Length and grammar are checked when the selector is parsed, so that both errors are J-503. */
export const Where = Type.String({
  minLength: 1,
  [mustBe]: 'a selector such as tag=kiosk and fw<2.4.0',
  description: 'A selector: an expression that selects devices; at most 4 KiB and 64 terms',
  examples: ['tag=kiosk and site in (berlin, lima) and fw<2.4.0 and not online'],
})

export const GroupContent = Type.Object(
  {
    where: Where,
    description: Type.Optional(Prose),
    window: Type.Optional(
      orNull(WindowName, {
        description: 'Name of a window: devices of the group are offered work only while it is open',
      }),
    ),
  },
  {
    title: 'GroupContent',
    additionalProperties: false,
    examples: [{ where: 'tag=kiosk and site=berlin', description: 'The kiosks of Berlin' }],
  },
)
export type GroupContent = Static<typeof GroupContent>

export const Group = Type.Object(
  {
    groupName: Type.String(),
    where: Type.String(),
    description: orNull(Type.String()),
    window: orNull(Type.String(), { description: 'Window of the devices of the group' }),
    createdAt: Instant,
    updatedAt: Instant,
    ...changeFields,
  },
  { title: 'Group' },
)
export type Group = Static<typeof Group>

export const GroupParams = Type.Object({ groupName: NewJobName })

export const CountRequest = Type.Object(
  { where: Where },
  { title: 'CountRequest', additionalProperties: false, examples: [{ where: 'tag=kiosk and not online' }] },
)
export type CountRequest = Static<typeof CountRequest>

export const DeviceCount = Type.Object(
  {
    total: Type.Integer({ description: 'How many devices match' }),
    online: Type.Integer({ description: 'How many of them are online' }),
    busy: Type.Integer({ description: 'How many of them are running an execution' }),
    unknownNames: Type.Array(Type.String(), {
      description: 'Attributes that the selector names and that no device has',
    }),
    sample: Type.Array(Type.String(), { description: 'deviceIds of the first 20' }),
  },
  { title: 'DeviceCount' },
)
export type DeviceCount = Static<typeof DeviceCount>

export const groups = {
  name: 'groups',
  noun: 'group',
  about: 'Groups: named selectors',
  key: 'groupName',
  params: GroupParams,
  content: GroupContent,
  view: Group,
  deletion: Type.Object(
    {
      force: Type.Boolean({ default: false, description: 'Delete it even if something refers to it' }),
    },
    { additionalProperties: false },
  ),
  scopes: { read: 'READ', write: 'MANAGE' },
  quota: 1000,
  notFound: 'J-309',
  inUse: 'J-315',
  refusals: { put: ['J-309', 'J-311', 'J-503'] },
  events: { created: 'group.changed', updated: 'group.changed', deleted: 'group.deleted' },
  texts: {
    put:
      'A group is a named selector, which other selectors use as `group=name`. Groups may refer to other groups, but ' +
      'not to themselves, directly or indirectly.',
    delete:
      'Rejected (J-315) while a group, a job, a schedule or the gate of an unfinished run refers to it, unless `force` is ' +
      'true. Then selectors that refer to it are rejected (J-309), schedules are paused, and such a gate stays closed.',
  },
} as const satisfies Resource
