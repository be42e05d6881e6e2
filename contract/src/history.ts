// The history of an execution: every transition with time, actor and cause.

import Type, { type Static } from 'typebox'
import { ExecState } from './execution.ts'
import { Instant, orNull } from './text.ts'

export const Transition = Type.Object(
  {
    at: Instant,
    from: orNull(Type.Unsafe<ExecState>(ExecState), { description: 'Null for its creation' }),
    to: Type.Unsafe<ExecState>(ExecState),
    event: Type.String({ description: 'What caused the transition', examples: ['start'] }),
    actor: Type.String({
      description: 'Who caused it: `key <keyId>`, `user <subject>` for a person, `device` or `clock`',
      examples: ['device'],
    }),
    actorName: orNull(Type.String(), {
      description: 'The name of that key or person; null if it was neither',
    }),
    attempt: Type.Integer(),
    versionNumber: Type.Integer({ description: 'Version after this transition' }),
    reason: orNull(Type.String({ examples: ['disk full'] }), {
      description:
        'Why the attempt was unsuccessful: the status detail `reason` that the device reported with it, or all details ' +
        'it reported. Null for every other transition',
    }),
  },
  { title: 'Transition' },
)
export type Transition = Static<typeof Transition>

export const History = Type.Object(
  { items: Type.Array(Transition, { description: 'Oldest first' }) },
  { title: 'History' },
)
export type History = Static<typeof History>
