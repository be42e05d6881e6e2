// Why executions of a run did not succeed, and what their devices have in common.

import Type, { type Static } from 'typebox'
import { AttributeValue } from './attributes.ts'

const FailureReason = Type.Object({
  reason: Type.String({
    description:
      'What the device reported (`statusDetails.reason`, or all status details), otherwise how the execution ended. At most ' +
      '20 reasons; all others are the last entry, `other reasons`',
    examples: ['disk full'],
  }),
  count: Type.Integer(),
  sample: Type.Array(Type.String(), { description: 'deviceIds of up to 20 of them' }),
})

const SharedValue = Type.Object({
  name: Type.String({
    description:
      '`tag`, or the name of an attribute; `reported.NAME` where the value of the owner hides the one that the device reports',
    examples: ['fw'],
  }),
  value: AttributeValue,
  failed: Type.Integer({ description: 'How many unsuccessful devices have it' }),
  ofFailed: Type.Integer({ description: 'How many unsuccessful devices were compared' }),
  succeeded: Type.Integer({ description: 'How many successful devices have it' }),
  ofSucceeded: Type.Integer({ description: 'How many successful devices were compared' }),
})

export const RunFailures = Type.Object(
  {
    total: Type.Integer({
      description:
        'Executions that ended otherwise than SUCCEEDED; those that were canceled before they were sent are not counted',
    }),
    reasons: Type.Array(FailureReason, { description: 'Most frequent first' }),
    shared: Type.Array(SharedValue, {
      description:
        'Tags and attributes, as they are now, that the unsuccessful devices have more often than the successful ones, ' +
        'by at least 2 percentage points. At most 20, the largest difference first',
    }),
  },
  { title: 'RunFailures' },
)
export type RunFailures = Static<typeof RunFailures>
