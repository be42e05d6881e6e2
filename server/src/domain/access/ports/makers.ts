/** Who created something: `key:<keyId>`, `enrollment:<enrollmentId>` or `operator`. Null if that is not recorded. */
export type Maker = {
  createdBy: string | null
  /** The session of the key. */
  createdBySession: string | null
}
