// Idempotency-Key: lets a caller safely repeat a call that creates a run.

import { mustBe } from '@jobcast/contract'
import Type from 'typebox'

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,255}$',
      [mustBe]: '1 to 255 visible ASCII characters',
      description: 'Any unique text, for example a UUID',
    }),
  ),
  traceparent: Type.Optional(
    Type.String({
      description:
        'W3C Trace Context: stored with the run and passed to its devices. Ignored if it is malformed',
    }),
  ),
})

/** The same header as in Stripe's API. */
export const replayedHeader = 'idempotency-replayed'
export const replayedDescription = {
  type: 'string',
  description: '`true` if an earlier call with the same Idempotency-Key has created the run',
}
