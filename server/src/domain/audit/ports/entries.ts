// What an entry is written as.

/** Who calls, and from where: steps of the store that write take it as `origin`, and all entries of their transaction get it. */
export type Origin = {
  principal: string
  /** Of the key, as it was then. */
  name: string | null
  address: string | null
  requestId: string | null
}

/** Of a step that was given an origin: it is read from the step's input when its transaction begins (store/audit-log.ts). */
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

/** Before and after are of one shape; null: there was none, or there is none any more. */
export type AuditedChange = { before?: unknown; after?: unknown; note?: string | undefined }

/** A change that is named as an event would be, but has none. */
export type OwnChange = AuditedChange & { ownerNo: number; at: number; action: string; subject: string }
