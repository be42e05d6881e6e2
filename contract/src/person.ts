// People who sign in at an OpenID Connect issuer, and programs that exchange a token of one.

import Type, { type Static } from 'typebox'
import { ApiKey } from './api-key.ts'
import { orNull } from './text.ts'

export const OwnKey = Type.Object(
  {
    ...ApiKey.properties,
    principal: Type.String({
      description:
        'Who acts, as events and `createdBy` name it: `key:<keyId>`, or `user:<subject>` for a person',
      examples: ['user:a1b2c3'],
    }),
    name: Type.String({ description: 'The name of the person, or of the key' }),
    email: orNull(Type.String(), { description: 'Of a person, if the issuer provides it' }),
    ownerName: Type.String({ description: 'The name of the owner that the key or the person acts for' }),
    owners: Type.Array(Type.String(), {
      description: 'Names of the owners for which a person has a role; empty for a key',
    }),
  },
  { title: 'OwnKey' },
)
export type OwnKey = Static<typeof OwnKey>

export const AuthConfig = Type.Object(
  {
    oidc: Type.Boolean({ description: 'Whether people sign in with an OpenID Connect issuer' }),
    issuer: orNull(Type.String()),
    clientId: orNull(Type.String()),
    scopes: orNull(Type.String(), { description: 'What to ask the issuer for, separated by spaces' }),
  },
  { title: 'AuthConfig' },
)
export type AuthConfig = Static<typeof AuthConfig>

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token' as const
const subjectTokenTypes = [
  'urn:ietf:params:oauth:token-type:id_token',
  'urn:ietf:params:oauth:token-type:jwt',
] as const
const maxToken = 32 * 1024

export const TokenExchange = Type.Object(
  {
    grant_type: Type.Literal(exchangeGrant),
    subject_token: Type.String({ minLength: 1, maxLength: maxToken, description: 'The token of the issuer' }),
    subject_token_type: Type.Unsafe<(typeof subjectTokenTypes)[number]>({
      type: 'string',
      enum: [...subjectTokenTypes],
    }),
    requested_token_type: Type.Optional(Type.Literal(accessTokenType)),
    audience: Type.Optional(
      Type.String({ maxLength: 128, description: 'Name or id of the owner, where several are possible' }),
    ),
    access_token: Type.Optional(
      Type.String({
        maxLength: maxToken,
        description: 'Of the sign-in of a person, for issuers that name groups at /userinfo only',
      }),
    ),
  },
  { title: 'TokenExchange', description: 'As in RFC 8693' },
)
export type TokenExchange = Static<typeof TokenExchange>

export const ExchangedToken = Type.Object(
  {
    access_token: Type.String({ description: 'Send it as X-API-Key' }),
    issued_token_type: Type.Literal(accessTokenType),
    token_type: Type.Literal('N_A'),
    expires_in: Type.Integer({ description: 'Seconds' }),
  },
  { title: 'ExchangedToken' },
)
export type ExchangedToken = Static<typeof ExchangedToken>
