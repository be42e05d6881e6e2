// A frozen fleet: devices are offered no work, running executions continue.

import Type, { type Static } from 'typebox'
import { GivenInstant, Instant, keyNameOf, Name, orNull } from './text.ts'

export const FreezeRequest = Type.Object(
  {
    reason: Type.String({ ...Name, description: 'The reason, shown to everyone who views the fleet' }),
    until: Type.Optional(
      orNull(GivenInstant, { description: 'When it ends automatically; by default, when somebody ends it' }),
    ),
  },
  {
    title: 'FreezeRequest',
    additionalProperties: false,
    examples: [{ reason: 'No changes before Christmas', until: '2026-12-27T06:00:00Z' }],
  },
)
export type FreezeRequest = Static<typeof FreezeRequest>

export const Freeze = Type.Object(
  {
    frozen: Type.Boolean(),
    reason: orNull(Type.String()),
    frozenBy: orNull(Type.String(), {
      description: 'Who did it: `key:<keyId>`, or `user:<subject>` for a person',
    }),
    frozenByName: keyNameOf('frozenBy'),
    since: orNull(Instant),
    until: orNull(Instant, { description: 'When it ends automatically' }),
  },
  { title: 'Freeze', description: 'All fields but `frozen` are null while it is not frozen' },
)
export type Freeze = Static<typeof Freeze>
