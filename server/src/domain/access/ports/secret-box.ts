/** Encrypts secrets before they are stored. */
export type SecretBox = {
  /** False: no key is configured, so there can be no secrets. */
  readonly isOpen: boolean
  /** `owner`: text encrypted for one owner cannot be decrypted as another's. */
  encrypt(text: string, owner: number): string
  decrypt(sealed: string, owner: number): string
  /** Re-encrypts text of an older key; undefined: it uses the current key. */
  reencrypt(sealed: string, owner: number): string | undefined
  /** Equal for equal texts, without revealing them. */
  fingerprint(text: string): string
  /** A signature for URLs, in base64url. */
  sign(text: string): string
  /** Accepts signatures of any configured key. */
  isSigned(text: string, signature: string): boolean
}
