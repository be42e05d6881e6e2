// Idempotency-Key: what lets a caller repeat a call that makes a run.

import Type from 'typebox'

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,255}$',
      description: 'Any text of your choice, for example a UUID',
    }),
  ),
})
