/** Encrypts secrets before they are stored. */
export type SecretBox = {
  /** False: no key is configured, so there can be no secrets. */
  readonly isOpen: boolean
  /** `owner`: what is encrypted for one cannot be read as that of another. */
  encrypt(text: string, owner: number): string
  decrypt(sealed: string, owner: number): string
  /** The same for what was encrypted with another key; undefined: it is with the current one. */
  reencrypt(sealed: string, owner: number): string | undefined
  /** Tells equal texts from others without showing anything of them. */
  fingerprint(text: string): string
  /** For URLs, in base64url. */
  sign(text: string): string
  /** With any of the keys. */
  isSigned(text: string, signature: string): boolean
}
