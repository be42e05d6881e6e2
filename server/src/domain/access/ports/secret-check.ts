import type { SecretPrefix } from '../secret-text.ts'

/** Checks secrets that are shown, as domain/access/secret-text.ts does; one that remembers them does it sooner. */
export type SecretCheck = {
  /** The id of a well-formed secret, otherwise undefined. */
  idOf(prefix: SecretPrefix, text: string): string | undefined
  matches(text: string, storedHash: Uint8Array | undefined): boolean
}
