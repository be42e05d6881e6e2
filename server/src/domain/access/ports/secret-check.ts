import type { SecretPrefix } from '../secret-text.ts'

/** Checks presented secrets, like domain/access/secret-text.ts; an implementation may cache results. */
export type SecretCheck = {
  /** The id of a well-formed secret, otherwise undefined. */
  idOf(prefix: SecretPrefix, text: string): string | undefined
  matches(text: string, storedHash: Uint8Array | undefined): boolean
}
