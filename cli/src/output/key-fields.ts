import type { ApiKey } from '@jobcast/client'
import { localTime } from './local-time.ts'

/** An API key as fields to show. */
export function keyFields({ keyId, keyName, ownerId, scopes, expiresAt }: ApiKey) {
  return {
    owner: ownerId,
    key: `${keyName} (${keyId})`,
    scopes: scopes.join(', ') || 'none',
    expires: localTime(expiresAt) ?? 'never',
  }
}
