// A session, which a browser uses instead of an API key. It has the permissions of the key that it was created with.

import Type, { type Static } from 'typebox'
import { OwnerId } from './api-key.ts'
import { Page, PageQuery } from './page.ts'
import { Id, Instant, orNull } from './text.ts'

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

export const TicketQuestion = Type.Object(
  { ticket: Secret },
  { title: 'TicketQuestion', additionalProperties: false, examples: [{ ticket: 'jt_…' }] },
)
export type TicketQuestion = Static<typeof TicketQuestion>

export const TicketFacts = Type.Object(
  {
    keyId: Type.String(),
    keyName: Type.String(),
    ownerId: Type.String(),
    ownerName: Type.String(),
    expiresAt: Instant,
  },
  { title: 'TicketFacts', description: 'The key that a ticket signs in with' },
)
export type TicketFacts = Static<typeof TicketFacts>

export const Session = Type.Object(
  {
    sessionId: Type.String(),
    keyId: Type.String({ description: 'The key it acts for' }),
    keyName: Type.String(),
    ownerId: Type.String(),
    createdAt: Instant,
    lastUsedAt: Type.Unsafe<string>({ ...Instant, description: 'Accurate to a minute' }),
    expiresAt: Type.Unsafe<string>({
      ...Instant,
      description: 'It ends then at the latest, and earlier if it is not used for `session-idle-timeout`',
    }),
    address: orNull(Type.String(), { description: 'Address of the client that signed in' }),
    userAgent: orNull(Type.String()),
    current: Type.Boolean({ description: 'Whether this call was made with it' }),
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>

export const SessionQuery = Type.Object(
  { ...PageQuery.properties, ownerId: Type.Optional(OwnerId) },
  { additionalProperties: false },
)
export type SessionQuery = Static<typeof SessionQuery>

export const SessionParams = Type.Object({ sessionId: Id })

export const SessionPage = Page(Session)
