// A session: what a browser holds instead of an API key. It has the permissions of the key it was created with.

import Type, { type Static } from 'typebox'
import { Instant } from './text.ts'

/** The name of the cookie; over TLS with the prefix `__Host-`. */
export const sessionCookie = 'jobcast_session'

const Secret = Type.String({ minLength: 1, maxLength: 200 })

export const SignIn = Type.Object(
  {
    apiKey: Type.Optional(Secret),
    ticket: Type.Optional(Type.String({ ...Secret, description: 'Can be used once' })),
  },
  {
    title: 'SignIn',
    description: 'Exactly one of the two fields',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    examples: [{ apiKey: 'jc_…' }],
  },
)
export type SignIn = Static<typeof SignIn>

export const SignInTicket = Type.Object(
  {
    ticket: Type.String({ description: 'Signs in once, as the key that requested it' }),
    expiresAt: Instant,
  },
  { title: 'SignInTicket' },
)
export type SignInTicket = Static<typeof SignInTicket>
