/** Who created something: `key:<keyId>`, `enrollment:<enrollmentId>` or `operator`. Null if that is not recorded. */
export type Maker = {
  createdBy: string | null
  /** The session through which the key was used. */
  createdBySession: string | null
}
