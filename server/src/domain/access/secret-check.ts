import type { SecretCheck } from './ports/secret-check.ts'
import { secretId, secretMatches } from './secret-text.ts'

/** Without a cache. */
export const secretCheck: SecretCheck = {
  idOf: secretId,
  matches: (text, storedHash) => secretMatches(text, storedHash),
}
