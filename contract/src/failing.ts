// Background tasks of the service that failed more than once in a row.

import Type, { type Static } from 'typebox'
import { Instant } from './text.ts'

export const Failing = Type.Object(
  {
    since: Instant,
    times: Type.Integer({ description: 'How many tries in a row have failed; up to 10 seconds old' }),
    message: Type.String({ description: 'Why the last one failed; its wording may change' }),
  },
  { title: 'Failing' },
)
export type Failing = Static<typeof Failing>
