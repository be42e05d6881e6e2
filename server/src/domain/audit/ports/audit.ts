// The part of the store's port for the audit. Entries are written together with the changes that they record.

import type { Seal } from '@jobcast/contract/audit'
import type { NewAuditEntry, StoredAuditEntry } from './entries.ts'

type AuditFilter = {
  principal?: string | undefined
  action?: string | undefined
  subject?: string | undefined
  /** Instants. */
  after?: number | undefined
  before?: number | undefined
}

/** An owner with entries that are not sealed. */
export type UnsealedOwner = {
  ownerNo: number
  ownerId: string
  /** The last seal; null: none yet. */
  seal: Seal | null
  /** When a seal was last announced as an event. */
  announcedAt: number | null
}

/**
 * Entries in the order of their ids. `leaves`: their concatenated hashes; `root`: root of the hash tree, in hex. `isMore`:
 * there may be more.
 */
type UnsealedEntries = {
  firstAuditId: number
  lastAuditId: number
  leaves: Uint8Array
  root: string
  isMore: boolean
}

export type StoredSeal = { seal: Seal; leaves: Uint8Array }

export type AuditStore = {
  /** For entries without a change: refusals. */
  recordAudit(audit: { entries: NewAuditEntry[] }): Promise<void>
  /** Newest first. Reads a bounded number of entries, so a page may be short although `next` is set. */
  listAudit(list: {
    ownerNo: number
    filter: AuditFilter
    slice: { after?: number | undefined; limit: number }
  }): Promise<{ items: StoredAuditEntry[]; next: number | undefined }>
  /** Of all owners, at most `limit`. */
  listUnsealedOwners(list: { after: number; limit: number }): Promise<UnsealedOwner[]>
  /** Fewer than the limit if entries are large, because an export reads a whole seal. Undefined: there are none. */
  readUnsealed(entries: {
    ownerNo: number
    after: number
    limit: number
  }): Promise<UnsealedEntries | undefined>
  /** False: another node has added a seal with this number. `publicKey`: set if the seal is announced as an event. */
  addSeal(seal: {
    ownerNo: number
    seal: Seal
    leaves: Uint8Array
    at: number
    publicKey: string | undefined
  }): Promise<boolean>
  /** Announces the last seal, unless it was announced already. */
  announceSeal(seal: { ownerNo: number; sealNo: number; at: number; publicKey: string }): Promise<void>
  getLastSeal(owner: { ownerNo: number }): Promise<StoredSeal | undefined>
  /** The next seal in this range, with the lines of its entries. */
  readSealed(page: {
    ownerNo: number
    after: number
    upTo: number
  }): Promise<{ seal: StoredSeal; lines: string[] } | undefined>
  /** The last seal of each owner; a page. Null: it has none. */
  listLastSeals(page: {
    after: number
    limit: number
  }): Promise<{ ownerNo: number; ownerId: string; seal: Seal | null }[]>
  /**
   * Purges older seals with their entries. The last seal of an owner stays; so does the newest purged seal, without entries:
   * an export begins with it, so that the rest can be verified. Without `isSealed` (no node seals), also purges entries of
   * owners that have no seal. True: there may be more.
   */
  purgeAudit(age: { olderThan: number; isSealed: boolean }): Promise<boolean>
}
