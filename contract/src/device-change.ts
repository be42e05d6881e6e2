// POST /job/api/devices/change: the same change for many devices.

import Type, { type Static } from 'typebox'
import { AttributeChanges } from './attributes.ts'
import { Tags } from './resources/devices.ts'
import { Where } from './resources/groups.ts'
import { Name } from './text.ts'

export const maxChangedIds = 10_000

export const DevicesChange = Type.Object(
  {
    where: Type.Optional(Where),
    deviceIds: Type.Optional(
      Type.Array(Name, {
        minItems: 1,
        maxItems: maxChangedIds,
        description: 'One that does not exist is J-001',
      }),
    ),
    addTags: Type.Optional(Tags),
    removeTags: Type.Optional(Tags),
    attributes: Type.Optional(
      Type.Unsafe<AttributeChanges>({
        ...AttributeChanges,
        description: 'Each attribute: its new value, or null to remove it',
      }),
    ),
  },
  {
    title: 'DevicesChange',
    additionalProperties: false,
    description: 'Either where or deviceIds, and at least one change',
    examples: [
      { where: 'tag=kiosk and site=berlin', addTags: ['canary'], attributes: { ring: 1, old: null } },
    ],
  },
)
export type DevicesChange = Static<typeof DevicesChange>

export const DevicesChangeQuery = Type.Object(
  {
    dryRun: Type.Boolean({ default: false, description: 'Return how many would change, and change nothing' }),
  },
  { additionalProperties: false },
)

export const DevicesChanged = Type.Object(
  {
    matched: Type.Integer({ description: 'How many devices were selected' }),
    changed: Type.Integer({ description: 'How many of them were changed' }),
    failed: Type.Array(
      Type.Object({ deviceId: Type.String(), code: Type.String(), message: Type.String() }),
      {
        description:
          'Devices that were not changed because they would exceed a limit; at most 1,000 are listed',
      },
    ),
    failedTotal: Type.Integer({ description: 'How many devices failed' }),
  },
  { title: 'DevicesChanged' },
)
export type DevicesChanged = Static<typeof DevicesChanged>
