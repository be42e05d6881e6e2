// The bodies of error responses: the form of the specification, and RFC 9457.

import Type, { type Static } from 'typebox'

export const ErrorBody = Type.Object(
  {
    code: Type.String({ description: 'Code from the catalogue, for example J-301' }),
    message: Type.String({ description: 'Message from the catalogue' }),
    status: Type.Integer({ description: 'HTTP status, equal to the status of the response' }),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    // Generated clients can read this field in both formats of errors.
    message: Type.String({ description: 'The same as title' }),
    status: Type.Integer(),
    detail: Type.Optional(Type.String()),
    code: Type.String(),
    field: Type.Optional(Type.String({ description: 'The invalid field of the request' })),
    position: Type.Optional(
      Type.Integer({ description: 'Where in that field, counted in characters from 1' }),
    ),
    deviceIds: Type.Optional(
      Type.Array(Type.String(), { description: 'Devices that were not found, at most 100' }),
    ),
    requestId: Type.String(),
  },
  { title: 'Problem', description: 'RFC 9457, for Accept: application/problem+json' },
)
export type ProblemBody = Static<typeof ProblemBody>
