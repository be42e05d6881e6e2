// The history of an execution: every step, when, who and why.

import Type, { type Static } from 'typebox'
import { ExecState } from './execution.ts'
import { Instant, orNull } from './text.ts'

export const Transition = Type.Object(
  {
    at: Instant,
    from: orNull(Type.Unsafe<ExecState>(ExecState), { description: 'Null where it was made' }),
    to: Type.Unsafe<ExecState>(ExecState),
    event: Type.String({ description: 'What happened', examples: ['start'] }),
    actor: Type.String({ description: 'Who: `key <keyId>`, `device` or `clock`', examples: ['device'] }),
    attempt: Type.Integer(),
    versionNumber: Type.Integer({ description: 'What it was after this step' }),
  },
  { title: 'Transition' },
)
export type Transition = Static<typeof Transition>

export const History = Type.Object(
  { items: Type.Array(Transition, { description: 'Oldest first' }) },
  { title: 'History' },
)
export type History = Static<typeof History>
