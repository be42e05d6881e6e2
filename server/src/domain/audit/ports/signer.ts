/** The key that signs seals. */
export type AuditSigner = {
  readonly keyId: string
  /** The raw key in base64url. */
  readonly publicKey: string
  /** In base64url. */
  sign(text: string): string
}
