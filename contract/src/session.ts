// A session: what a browser holds in place of an API key. It is only as good as the key it was made with.

import Type, { type Static } from 'typebox'
import { Instant } from './text.ts'

/** The name of the cookie. */
export const sessionCookie = 'jobcast_session'

const Secret = Type.String({ minLength: 1, maxLength: 200 })

export const SignIn = Type.Object(
  {
    apiKey: Type.Optional(Secret),
    ticket: Type.Optional(Type.String({ ...Secret, description: 'Works once' })),
  },
  {
    title: 'SignIn',
    description: 'Exactly one of the two',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    examples: [{ apiKey: 'jc_…' }],
  },
)
export type SignIn = Static<typeof SignIn>

export const SignInTicket = Type.Object(
  {
    ticket: Type.String({ description: 'Signs in once, with the key that asked for it' }),
    expiresAt: Instant,
  },
  { title: 'SignInTicket' },
)
export type SignInTicket = Static<typeof SignInTicket>
