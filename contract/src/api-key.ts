// An owner is a tenant; an API key acts for exactly one owner, within its scopes.

import Type, { type Static } from 'typebox'
import { restrictionFields } from './key-restriction.ts'
import { Page, PageQuery } from './page.ts'
import { GivenInstant, Id, Instant, makerFields, mustBe, Name, orNull } from './text.ts'

export const scopes = ['TRIGGER', 'READ', 'MANAGE', 'APPROVE', 'AUDIT', 'ADMIN'] as const
export type Scope = (typeof scopes)[number]
export const Scope = Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] })

export const keyStates = ['ACTIVE', 'EXPIRED', 'REVOKED'] as const
export type KeyState = (typeof keyStates)[number]
export const KeyState = Type.Unsafe<KeyState>({ type: 'string', enum: [...keyStates] })

export const OwnerId = Type.String({
  pattern: '^[A-Za-z0-9_]{1,64}$',
  [mustBe]: '1 to 64 letters, digits or _',
})

export const NewApiKey = Type.Object(
  {
    keyName: Name,
    scopes: Type.Optional(
      Type.Array(Scope, {
        uniqueItems: true,
        description: 'What the key may do; default none. A key can only grant scopes it holds',
      }),
    ),
    expiresAt: Type.Optional(
      orNull(GivenInstant, {
        description:
          'Default: the expiry of the calling key, or never. A key cannot outlive the key that created it, so a later ' +
          'instant is rejected',
      }),
    ),
    ownerId: Type.Optional(
      Type.String({
        ...OwnerId,
        description: 'Default: the owner of the calling key. Any other owner needs ADMIN',
      }),
    ),
    jobs: Type.Optional(restrictionFields.jobs),
    where: Type.Optional(restrictionFields.where),
    addresses: Type.Optional(restrictionFields.addresses),
  },
  {
    title: 'NewApiKey',
    additionalProperties: false,
    examples: [
      {
        keyName: 'ci',
        scopes: ['TRIGGER', 'READ'],
        expiresAt: '2027-12-31T23:59:59Z',
        jobs: ['update-*'],
        where: 'tag=kiosk',
        addresses: ['10.0.0.0/8'],
      },
    ],
  },
)
export type NewApiKey = Static<typeof NewApiKey>

const apiKeyFields = {
  keyId: Type.String(),
  keyName: Type.String(),
  ownerId: Type.String(),
  scopes: Type.Array(Scope),
  jobs: orNull(Type.Array(Type.String()), { description: 'The jobs it is restricted to; null: all' }),
  where: orNull(Type.String(), { description: 'The selector of the devices it is restricted to; null: all' }),
  addresses: orNull(Type.Array(Type.String()), {
    description: 'The addresses it may be used from; null: any',
  }),
  expiresAt: orNull(Instant),
  createdAt: Instant,
  revokedAt: orNull(Instant),
  lastUsedAt: Type.Unsafe<string | null>({
    ...orNull(Instant),
    description: 'Accurate to a few seconds; null if never used',
  }),
  ...makerFields,
}

export const ApiKey = Type.Object(apiKeyFields, { title: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

export const CreatedApiKey = Type.Object(
  { ...apiKeyFields, apiKey: Type.String({ description: 'The key itself. It is shown only once' }) },
  { title: 'CreatedApiKey' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

export const ApiKeyQuery = Type.Object(
  { ...PageQuery.properties, ownerId: Type.Optional(OwnerId) },
  { additionalProperties: false },
)
export type ApiKeyQuery = Static<typeof ApiKeyQuery>

export const ApiKeyParams = Type.Object({ keyId: Id })

export const RevokeKeyQuery = Type.Object(
  {
    descendants: Type.Optional(
      Type.Boolean({
        description:
          'Also revoke the keys it has created, those that these have created, and so on, and all their enrollments; ' +
          'pause their schedules and those of their runs that have not started',
      }),
    ),
  },
  { additionalProperties: false },
)
export type RevokeKeyQuery = Static<typeof RevokeKeyQuery>

/** The maximum of each kind. */
export const maxListedLeft = 100

export const RevokedKeys = Type.Object(
  {
    revokedKeys: Type.Integer({
      description: 'Keys that this call revoked, not counting those revoked before',
    }),
    revokedEnrollments: Type.Integer({ description: 'Enrollments that this call revoked' }),
    pausedSchedules: Type.Array(
      Type.Object({ ownerId: Type.String(), scheduleName: Type.String() }, { title: 'PausedSchedule' }),
      { description: `Schedules that this call paused, at most ${maxListedLeft}` },
    ),
    pausedRuns: Type.Array(
      Type.Object({ ownerId: Type.String(), runId: Type.Integer() }, { title: 'PausedRun' }),
      { description: `Runs with startAt that this call paused, at most ${maxListedLeft}` },
    ),
    isMore: Type.Boolean({ description: 'More schedules or runs were paused than are listed' }),
  },
  { title: 'RevokedKeys' },
)
export type RevokedKeys = Static<typeof RevokedKeys>

export const NewOwner = Type.Object(
  { ownerName: Name },
  { title: 'NewOwner', additionalProperties: false, examples: [{ ownerName: 'north-region' }] },
)
export type NewOwner = Static<typeof NewOwner>

export const Owner = Type.Object(
  { ownerId: Type.String(), ownerName: Type.String(), createdAt: Instant },
  { title: 'Owner' },
)
export type Owner = Static<typeof Owner>

export const ApiKeyPage = Page(ApiKey)
export const OwnerPage = Page(Owner)
