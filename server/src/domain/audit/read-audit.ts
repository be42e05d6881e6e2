// Lists and exports of the audit, for keys with AUDIT.

import { ApiError, type AuditCheckpoint, type AuditQuery, parseInstant } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredSeal } from './ports/audit.ts'
import type { StoredAuditEntry } from './ports/entries.ts'
import type { AuditSigner } from './ports/signer.ts'

export type AuditDeps = {
  store: Pick<Store, 'listAudit' | 'getLastSeal' | 'readSealed'>
  /** Undefined: nothing is sealed. */
  signer?: Pick<AuditSigner, 'publicKey'> | undefined
}

/** Newest first. */
export function listAudit(
  { store }: AuditDeps,
  { ownerNo }: Caller,
  { principal, action, subject, after, before }: Omit<AuditQuery, 'limit' | 'cursor'>,
  slice: Slice<number>,
): Promise<Sliced<StoredAuditEntry, number>> {
  const instant = (text: string | undefined) => (text === undefined ? undefined : parseInstant(text))
  const filter = { principal, action, subject, after: instant(after), before: instant(before) }
  return store.listAudit({ ownerNo, filter, slice })
}

/** J-321 before the first seal. */
export async function getCheckpoint(
  { store, signer }: AuditDeps,
  { ownerNo }: Caller,
): Promise<AuditCheckpoint> {
  const last = await store.getLastSeal({ ownerNo })
  if (last === undefined || signer === undefined) throw new ApiError('J-321')
  return { ...last.seal, publicKey: signer.publicKey }
}

/**
 * Everything sealed so far, as lines: the entries of each seal, then the seal with their hashes. Throws if a purge overtakes
 * a slow reader, since an export with a gap cannot be verified.
 */
export async function* exportAudit(
  { store }: AuditDeps,
  { ownerNo }: Caller,
  isGone: () => boolean,
): AsyncGenerator<string> {
  const upTo = (await store.getLastSeal({ ownerNo }))?.seal.seal ?? 0
  for (let after = 0; after < upTo && !isGone(); ) {
    const next = await store.readSealed({ ownerNo, after, upTo })
    if (next === undefined) return
    if (!continues(next.seal, after)) await requireUnpurged(store, ownerNo, after)
    yield [...next.lines, sealLine(next.seal), ''].join('\n')
    after = next.seal.seal.seal
  }
}

/** The newest purged seal is kept without the hashes of its entries. */
function continues({ seal, leaves }: StoredSeal, after: number): boolean {
  return after === 0 || (seal.seal === after + 1 && leaves.length > 0)
}

/** A purge has also removed what was sent already. Other gaps are left for the verifier to find. */
async function requireUnpurged(store: AuditDeps['store'], ownerNo: number, sent: number): Promise<void> {
  const first = await store.readSealed({ ownerNo, after: 0, upTo: sent })
  if (first === undefined) throw new Error('Old entries were purged during an export of the audit')
}

export function sealLine({ seal, leaves }: StoredSeal): string {
  return JSON.stringify({ ...seal, leaves: Buffer.from(leaves).toString('base64') })
}
