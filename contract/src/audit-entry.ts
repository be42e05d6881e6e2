// The audit log: who has changed what. The export format and its verification are in audit/.

import Type, { type Static } from 'typebox'
import { Page, PageQuery } from './page.ts'
import { GivenInstant, Instant, orNull } from './text.ts'

const anyValue = (description: string) => Type.Unsafe<unknown>({ description })

export const AuditEntry = Type.Object(
  {
    auditId: Type.Integer({ description: 'Increasing within an owner; ids may have gaps' }),
    at: Instant,
    principal: Type.String({
      description: 'Who: `key:<keyId>`, `user:<subject>` for a person, or `operator`',
      examples: ['key:3f9aZ0qLxw'],
    }),
    name: orNull(Type.String(), { description: 'The name of the key or the person, as it was then' }),
    address: orNull(Type.String(), { description: 'Where the request came from' }),
    requestId: orNull(Type.String(), {
      description: 'The request id in the log and in the response header X-Request-Id',
    }),
    action: Type.String({
      description: 'What was done, in the form of an event type',
      examples: ['job.changed'],
    }),
    subject: Type.String({ description: 'The resource it was done to', examples: ['job:restart', 'run:17'] }),
    before: anyValue(
      'The state before; null if it did not exist. Secrets are masked; large values are replaced by a hash',
    ),
    after: anyValue('The state after; null if it was deleted'),
    note: orNull(Type.String()),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>
export const AuditEntryPage = Page(AuditEntry)

const maxFilterLength = 256
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxFilterLength, description, examples: [example] }))

export const AuditQuery = Type.Object(
  {
    ...PageQuery.properties,
    principal: text('Only of this principal', 'key:3f9aZ0qLxw'),
    action: text('Only this action, or all of a noun', 'job.*'),
    subject: text('Only of this subject', 'job:restart'),
    after: Type.Optional(Type.String({ ...GivenInstant, description: 'Only entries later than this' })),
    before: Type.Optional(Type.String({ ...GivenInstant, description: 'Only entries earlier than this' })),
  },
  { additionalProperties: false },
)
export type AuditQuery = Static<typeof AuditQuery>

const hex = (description: string) => Type.String({ description })

/** The same as `Checkpoint` of audit/seal.ts. */
export const AuditCheckpoint = Type.Object(
  {
    seal: Type.Integer({ description: 'The number of the seal; seals of an owner are numbered from 1' }),
    ownerId: Type.String(),
    at: Instant,
    firstAuditId: Type.Integer(),
    lastAuditId: Type.Integer(),
    entries: Type.Integer({ description: 'How many entries it seals' }),
    root: hex('The Merkle root of these entries (RFC 9162, SHA-256)'),
    previous: orNull(hex('The SHA-256 of the signed text of the seal before it'), {}),
    keyId: Type.String({ description: 'The beginning of the SHA-256 of the public key' }),
    signature: Type.String({ description: 'Ed25519, in base64url' }),
    publicKey: Type.String({ description: 'The key that verifies it: 32 bytes in base64url' }),
  },
  {
    title: 'AuditCheckpoint',
    description: 'The last seal. Keep it outside of the service: an export is verified with it',
  },
)
export type AuditCheckpoint = Static<typeof AuditCheckpoint>
