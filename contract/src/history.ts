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
      description: 'Who caused it: `key <keyId>`, `device` or `clock`',
      examples: ['device'],
    }),
    attempt: Type.Integer(),
    versionNumber: Type.Integer({ description: 'Version after this transition' }),
  },
  { title: 'Transition' },
)
export type Transition = Static<typeof Transition>

export const History = Type.Object(
  { items: Type.Array(Transition, { description: 'Oldest first' }) },
  { title: 'History' },
)
export type History = Static<typeof History>
