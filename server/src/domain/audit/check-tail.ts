// Checks, at start and once an hour, that the entries of each owner's last seal are those that were sealed, and that the seal
// is the last one this node knows. `jobcast audit verify` verifies a whole export; this detects recent tampering at once.

import { AuditVerifier, type Seal } from '@jobcast/contract/audit'
import type { Store } from '../common/ports/store.ts'
import type { Damage, KnownSeals } from './known-seals.ts'
import type { AuditSigner } from './ports/signer.ts'
import { sealLine } from './read-audit.ts'

type CheckDeps = {
  store: Pick<Store, 'listLastSeals' | 'readSealed'>
  signer: Pick<AuditSigner, 'publicKey'>
  known: KnownSeals
}

const ownersAtOnce = 100
/** Checking more owners would delay the start. */
const mostOwners = 1000

/** One result per owner; without damage it is intact. `isInEntries`: found in entries that checks of later seals do not read. */
export async function* checkTails({
  store,
  signer,
  known,
}: CheckDeps): AsyncGenerator<{ ownerId: string; damage: Damage | undefined; isInEntries: boolean }> {
  let checked = 0
  for (let after = 0; checked < mostOwners; ) {
    const owners = await store.listLastSeals({ after, limit: ownersAtOnce })
    for (const { ownerNo, ownerId, seal } of owners) {
      const damage = known.judge(ownerId, seal)
      if (damage || seal === null) yield { ownerId, damage, isInEntries: false }
      else yield { ownerId, damage: await checkEntries({ store, signer }, ownerNo, seal), isInEntries: true }
      if (seal !== null) checked++
    }
    if (owners.length < ownersAtOnce) return
    after = owners.at(-1)?.ownerNo ?? 0
  }
}

async function checkEntries(
  { store, signer }: Omit<CheckDeps, 'known'>,
  ownerNo: number,
  seal: Seal,
): Promise<Damage | undefined> {
  // A chain of one: earlier seals were checked when they were the last.
  const verifier = new AuditVerifier({ ...seal, publicKey: signer.publicKey }, { isPart: true })
  const found = await store.readSealed({ ownerNo, after: seal.seal - 1, upTo: seal.seal })
  for (const line of found?.lines ?? []) verifier.add(line)
  if (found) verifier.add(sealLine(found.seal))
  const verdict = verifier.end()
  if (verdict.kind === 'fits') return undefined
  const { auditId, because } = verdict
  return { auditId, because }
}
