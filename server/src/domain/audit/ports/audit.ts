// What the audit needs of the store. Entries of changes are written by the steps that make them.

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
  /** The last one; null: there is none yet. */
  seal: Seal | null
  /** When a seal was last announced as an event. */
  announcedAt: number | null
}

/**
 * Entries in the order of their ids. `leaves`: their hashes, one after the other; `root`: of their tree, in hex. `isMore`: there
 * may be more.
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
  /** For what changes nothing else: refusals. */
  recordAudit(audit: { entries: NewAuditEntry[] }): Promise<void>
  /** Newest first; goes through a bounded number of entries, so a page may be short while `next` says that there are more. */
  listAudit(list: {
    ownerNo: number
    filter: AuditFilter
    slice: { after?: number | undefined; limit: number }
  }): Promise<{ items: StoredAuditEntry[]; next: number | undefined }>
  /** Of all owners, at most so many. */
  listUnsealedOwners(list: { after: number; limit: number }): Promise<UnsealedOwner[]>
  /** Fewer than the limit if they are large: an export reads a seal as a whole. Undefined: there are none. */
  readUnsealed(entries: {
    ownerNo: number
    after: number
    limit: number
  }): Promise<UnsealedEntries | undefined>
  /** False: another node has made a seal with this number. `publicKey`: it is announced as an event. */
  addSeal(seal: {
    ownerNo: number
    seal: Seal
    leaves: Uint8Array
    at: number
    publicKey: string | undefined
  }): Promise<boolean>
  /** Announces the last seal, if it was not. */
  announceSeal(seal: { ownerNo: number; sealNo: number; at: number; publicKey: string }): Promise<void>
  getLastSeal(owner: { ownerNo: number }): Promise<StoredSeal | undefined>
  /** Each with the lines of its entries, in the order of their numbers. */
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
   * Seals that were made before, with their entries. The last seal of an owner stays; and of those that are purged the
   * newest one, without its entries: an export begins with it, so that what is left can be verified. Without `isSealed` (no node seals)
   * also entries of owners that have no seal. True: there may be more.
   */
  purgeAudit(age: { olderThan: number; isSealed: boolean }): Promise<boolean>
}
