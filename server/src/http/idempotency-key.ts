// Idempotency-Key: lets a caller safely repeat a call that creates a run.

import Type from 'typebox'

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,255}$',
      description: 'Any unique text, for example a UUID',
    }),
  ),
})
