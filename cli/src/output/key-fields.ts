import type { ApiKey, OwnKey } from '@jobcast/client'
import { localTime } from './local-time.ts'

/** Null if the key has no restriction. */
export function restrictionText({
  jobs,
  where,
  addresses,
}: Pick<ApiKey, 'jobs' | 'where' | 'addresses'>): string | null {
  const parts = [
    ...(jobs === null ? [] : [`jobs ${jobs.join(', ')}`]),
    ...(where === null ? [] : [`devices ${where}`]),
    ...(addresses === null ? [] : [`addresses ${addresses.join(', ')}`]),
  ]
  return parts.join('; ') || null
}

/** An API key as fields to show. */
function keyFields(key: ApiKey) {
  const { keyId, keyName, ownerId, scopes, expiresAt } = key
  const restricted = restrictionText(key)
  return {
    owner: ownerId,
    key: `${keyName} (${keyId})`,
    scopes: scopes.join(', ') || 'none',
    ...(restricted !== null && { 'restricted to': restricted }),
    expires: localTime(expiresAt) ?? 'never',
  }
}

/** The principal of a request: a person or a key. */
export function selfFields(self: OwnKey) {
  const { principal, name, email, ownerName, scopes } = self
  if (!principal.startsWith('user:')) return keyFields(self)
  const restricted = restrictionText(self)
  return {
    person: email === null ? name : `${name} (${email})`,
    principal,
    owner: ownerName,
    scopes: scopes.join(', ') || 'none',
    ...(restricted !== null && { 'restricted to': restricted }),
  }
}
