// Audit entries as they are written.

/** Who calls, and from where. Store writes take it as `origin`, and all entries of their transaction get it. */
export type Origin = {
  principal: string
  /** The name of the key at that time. */
  name: string | null
  address: string | null
  requestId: string | null
}

/** Input of a store write that has an origin: read when the transaction begins (store/audit-log.ts). */
export type Originated = { origin?: Origin }

/** `details`: JSON of an object with all other fields, masked. */
export type NewAuditEntry = {
  ownerNo: number
  at: number
  principal: string
  action: string
  subject: string
  details: string
}
export type StoredAuditEntry = Omit<NewAuditEntry, 'ownerNo'> & { auditId: number }

/** `before` and `after` have the same shape; null: it did not exist, or no longer exists. */
export type AuditedChange = { before?: unknown; after?: unknown; note?: string | undefined }

/** A change that is named like an event, but has none. */
export type OwnChange = AuditedChange & { ownerNo: number; at: number; action: string; subject: string }
