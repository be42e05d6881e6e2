// Reads, seals and purges entries of the audit. Entries are written with their changes (audit-log.ts).

import { leafHashes, merkleRoot } from '@jobcast/contract/audit'
import { entryLine } from '../../domain/audit/audit-entry.ts'
import { inBoth, sliced, type Writes } from '../queries.ts'
import { number, orNull, rows, select } from '../schema/column.ts'
import { auditEntry, auditSeal, owner } from '../schema/tables.ts'
import type { ReadSteps, WriteSteps } from './step.ts'

const ENTRY = select(auditEntry.pick('auditId', 'at', 'principal', 'action', 'subject', 'details'))
const LIST = `
  SELECT ${ENTRY} FROM audit_entry WHERE owner_no = :ownerNo AND audit_id < :below
  ORDER BY audit_id DESC LIMIT :limit` as const
const MATCHED = select(auditEntry.pick('auditId', 'at', 'principal', 'action', 'subject'))
const LIST_MATCHED = `
  SELECT ${MATCHED} FROM audit_entry WHERE owner_no = :ownerNo AND audit_id < :below
  ORDER BY audit_id DESC LIMIT :limit` as const
const BY_ID = inBoth(
  ({ isIn }) => `
  SELECT ${ENTRY} FROM audit_entry WHERE owner_no = :ownerNo AND ${isIn('audit_id', 'auditIds', 'bigint')}
  ORDER BY audit_id DESC`,
)
const BETWEEN = `
  SELECT ${ENTRY} FROM audit_entry WHERE owner_no = :ownerNo AND audit_id > :after AND audit_id <= :upTo
  ORDER BY audit_id LIMIT :limit` as const

const SEAL = select(auditSeal.pick('seal', 'leaves'))
const LAST_SEAL = `
  SELECT ${SEAL} FROM audit_seal WHERE owner_no = :ownerNo ORDER BY seal_no DESC LIMIT 1` as const
const NEXT_SEAL = `
  SELECT ${SEAL} FROM audit_seal WHERE owner_no = :ownerNo AND seal_no > :after AND seal_no <= :upTo
  ORDER BY seal_no LIMIT 1` as const
const last = (column: string) =>
  `(SELECT ${column} FROM audit_seal WHERE audit_seal.owner_no = owner.owner_no ORDER BY seal_no DESC LIMIT 1)` as const
const UNSEALED_ROW = rows({
  ...owner.pick('ownerNo', 'ownerId'),
  seal: orNull(auditSeal.fields.seal),
  announcedAt: orNull(number()),
})
const UNSEALED_OWNERS = `
  SELECT owner_no AS "ownerNo", owner_id AS "ownerId", ${last('seal')} AS seal, ${last('announced_at')} AS "announcedAt"
  FROM owner
  WHERE owner_no > :after AND coalesce((SELECT max(audit_id) FROM audit_entry WHERE audit_entry.owner_no = owner.owner_no), 0)
    > coalesce(${last('last_audit_id')}, 0)
  ORDER BY owner_no LIMIT :limit` as const
const LAST_SEALS_ROW = rows({ ...owner.pick('ownerNo', 'ownerId'), seal: orNull(auditSeal.fields.seal) })
const LAST_SEALS = `
  SELECT owner_no AS "ownerNo", owner_id AS "ownerId", ${last('seal')} AS seal FROM owner WHERE owner_no > :after
  ORDER BY owner_no LIMIT :limit` as const
const ADD_SEAL = `
  INSERT INTO audit_seal (owner_no, seal_no, first_audit_id, last_audit_id, at, seal, leaves, announced_at)
  VALUES (:ownerNo, :sealNo, :firstAuditId, :lastAuditId, :at, :seal, :leaves,
    CASE WHEN :isAnnounced = 1 THEN :at ELSE (
      SELECT announced_at FROM audit_seal WHERE owner_no = :ownerNo ORDER BY seal_no DESC LIMIT 1) END)
  ON CONFLICT DO NOTHING`
const ANNOUNCE = `
  UPDATE audit_seal SET announced_at = :at
  WHERE owner_no = :ownerNo AND seal_no = :sealNo
    AND seal_no = (SELECT max(seal_no) FROM audit_seal WHERE owner_no = :ownerNo)`

// The last seal is kept, because the chain continues from it. The newest purged seal is also kept, without its entries and their
// hashes, until a newer one is purged: its time proves that its entries were old enough. Only the oldest seals are read, because
// there may be millions, and triggers are written by this thread.
const OLD_ROW = rows(auditSeal.pick('ownerNo', 'sealNo', 'lastAuditId'))
const OLD_SEALS = inBoth(
  ({ lock }) => `
  SELECT owner_no AS "ownerNo", seal_no AS "sealNo", last_audit_id AS "lastAuditId" FROM (
    SELECT owner_no, seal_no, last_audit_id, at, leaves FROM audit_seal
    WHERE owner_no = :ownerNo AND seal_no < (SELECT max(seal_no) FROM audit_seal WHERE owner_no = :ownerNo)
    ORDER BY seal_no LIMIT :limit ${lock}) AS oldest
  WHERE at < :olderThan AND length(leaves) > 0 ORDER BY seal_no`,
)
const OWNERS = 'SELECT owner_no AS "ownerNo" FROM owner ORDER BY owner_no'
const PURGE_ENTRIES = 'DELETE FROM audit_entry WHERE owner_no = :ownerNo AND audit_id <= :upTo'
const PURGE_SEALS = 'DELETE FROM audit_seal WHERE owner_no = :ownerNo AND seal_no < :sealNo'
const EMPTY_SEAL = 'UPDATE audit_seal SET leaves = :none WHERE owner_no = :ownerNo AND seal_no = :sealNo'

// The newest entry is kept, because ids continue from it.
const UNSEALED_ENTRY = rows(auditEntry.pick('auditId', 'at'))
const OLDEST_UNSEALED = `
  SELECT audit_id AS "auditId", at FROM audit_entry
  WHERE owner_no = :ownerNo AND audit_id < (SELECT max(audit_id) FROM audit_entry WHERE owner_no = :ownerNo)
    AND NOT EXISTS (SELECT 1 FROM audit_seal WHERE owner_no = :ownerNo)
  ORDER BY audit_id LIMIT :limit`

/** Entries that are scanned for a page, without details; most of them may not pass the filter. */
const matchedAtOnce = 5000
/** Entries read at once with their details, of which an entry has up to about 70 KB. */
const readAtOnce = 100
/** A seal ends with the entry that exceeds this size. */
const sealedBytes = 8 * 1024 * 1024
/** A seal has up to 2,000 entries. */
const sealsPurgedAtOnce = 10
const entriesPurgedAtOnce = 2000
const all = Number.MAX_SAFE_INTEGER

type AuditReads = 'listAudit' | 'listUnsealedOwners' | 'readUnsealed' | 'getLastSeal' | 'listLastSeals'

export const auditReads: ReadSteps<AuditReads> = {
  async listAudit(queries, { ownerNo, filter, slice: { after: below = all, limit } }) {
    const { principal, action, subject, after = -all, before = all } = filter
    if (Object.values(filter).every((each) => each === undefined)) {
      const found = await queries.all(ENTRY, LIST, { ownerNo, below, limit: limit + 1 })
      return sliced(found, limit, ({ auditId }) => auditId)
    }
    const found = await queries.all(MATCHED, LIST_MATCHED, { ownerNo, below, limit: matchedAtOnce })
    const passes = (entry: (typeof found)[number]) =>
      (principal === undefined || entry.principal === principal) &&
      (action === undefined || entry.action === action || isPattern(action, entry.action)) &&
      (subject === undefined || entry.subject === subject) &&
      entry.at > after &&
      entry.at < before
    const auditIds = found
      .filter(passes)
      .slice(0, limit)
      .map(({ auditId }) => auditId)
    const items = auditIds.length === 0 ? [] : await queries.all(ENTRY, BY_ID, { ownerNo, auditIds })
    if (auditIds.length === limit) return { items, next: auditIds.at(-1) }
    return { items, next: found.length === matchedAtOnce ? found.at(-1)?.auditId : undefined }
  },
  listUnsealedOwners: (queries, { after, limit }) =>
    queries.all(UNSEALED_ROW, UNSEALED_OWNERS, { after, limit }),
  async readUnsealed(queries, { ownerNo, after, limit }) {
    const ids: number[] = []
    const hashes: Buffer[] = []
    let bytes = 0
    let isMore = true
    while (isMore && ids.length < limit && bytes < sealedBytes) {
      const page = Math.min(readAtOnce, limit - ids.length)
      const range = { ownerNo, after: ids.at(-1) ?? after, upTo: all, limit: page }
      const found = await queries.all(ENTRY, BETWEEN, range)
      isMore = found.length === page
      for (const entry of found) {
        if (bytes >= sealedBytes) break
        const line = entryLine(entry)
        bytes += Buffer.byteLength(line)
        ids.push(entry.auditId)
        hashes.push(leafHashes([line]))
      }
    }
    const [firstAuditId, lastAuditId] = [ids[0], ids.at(-1)]
    if (firstAuditId === undefined || lastAuditId === undefined) return undefined
    const leaves = new Uint8Array(Buffer.concat(hashes))
    // Computed here in the reading thread, because many entries take long.
    const root = merkleRoot(leaves).toString('hex')
    return { firstAuditId, lastAuditId, leaves, root, isMore: isMore || bytes >= sealedBytes }
  },
  getLastSeal: (queries, { ownerNo }) => queries.get(SEAL, LAST_SEAL, { ownerNo }),
  listLastSeals: (queries, { after, limit }) => queries.all(LAST_SEALS_ROW, LAST_SEALS, { after, limit }),
}

export const auditSnapshots: ReadSteps<'readSealed'> = {
  async readSealed(queries, { ownerNo, after, upTo }) {
    const seal = await queries.get(SEAL, NEXT_SEAL, { ownerNo, after, upTo })
    if (seal === undefined) return undefined
    const { firstAuditId, lastAuditId } = seal.seal
    const range = { ownerNo, after: firstAuditId - 1, upTo: lastAuditId, limit: seal.seal.entries + 1 }
    const found = await queries.all(ENTRY, BETWEEN, range)
    return { seal, lines: found.map(entryLine) }
  },
}

export const auditWrites: WriteSteps<'recordAudit' | 'addSeal' | 'announceSeal' | 'purgeAudit'> = {
  async recordAudit(queries, { entries }) {
    for (const entry of entries) queries.entry(entry)
  },
  async addSeal(queries, { ownerNo, seal, leaves, at, publicKey }) {
    const { seal: sealNo, firstAuditId, lastAuditId } = seal
    const isAnnounced = publicKey === undefined ? 0 : 1
    const row = {
      ownerNo,
      sealNo,
      firstAuditId,
      lastAuditId,
      at,
      seal: JSON.stringify(seal),
      leaves,
      isAnnounced,
    }
    if ((await queries.run(ADD_SEAL, row)) === 0) return false
    if (publicKey !== undefined)
      queries.resourceChanged('audit.sealed', { ownerNo, at, data: { ...seal, publicKey } })
    return true
  },
  async announceSeal(queries, { ownerNo, sealNo, at, publicKey }) {
    if ((await queries.run(ANNOUNCE, { ownerNo, sealNo, at })) === 0) return
    const { seal } = await queries.one(SEAL, LAST_SEAL, { ownerNo })
    queries.resourceChanged('audit.sealed', { ownerNo, at, data: { ...seal, publicKey } })
  },
  /** Purges whole seals. */
  async purgeAudit(queries, { olderThan, isSealed }) {
    for (const { ownerNo } of await queries.all(rows(owner.pick('ownerNo')), OWNERS)) {
      if (!isSealed && (await purgeUnsealed(queries, ownerNo, olderThan))) return true
      // One of them may be the kept seal of the previous purge.
      const limit = sealsPurgedAtOnce + 1
      const newest = (await queries.all(OLD_ROW, OLD_SEALS, { ownerNo, olderThan, limit })).at(-1)
      if (newest === undefined) continue
      const { sealNo, lastAuditId } = newest
      await queries.run(PURGE_ENTRIES, { ownerNo, upTo: lastAuditId })
      await queries.run(PURGE_SEALS, { ownerNo, sealNo })
      await queries.run(EMPTY_SEAL, { ownerNo, sealNo, none: new Uint8Array() })
      return true
    }
    return false
  },
}

/** True: entries were purged. */
async function purgeUnsealed(queries: Writes, ownerNo: number, olderThan: number): Promise<boolean> {
  const oldest = await queries.all(UNSEALED_ENTRY, OLDEST_UNSEALED, { ownerNo, limit: entriesPurgedAtOnce })
  const young = oldest.findIndex(({ at }) => at >= olderThan)
  const newest = oldest.at(young === -1 ? -1 : young - 1)
  if (newest === undefined || young === 0) return false
  return (await queries.run(PURGE_ENTRIES, { ownerNo, upTo: newest.auditId })) > 0
}

/** `job.*` means all actions on jobs. */
function isPattern(pattern: string, action: string): boolean {
  return pattern.endsWith('.*') && action.startsWith(pattern.slice(0, -1))
}
