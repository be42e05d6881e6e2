// At start and once an hour: whether the entries of the last seal of each owner are those that were sealed, and the seal is
// the last one that this node knows. An export is verified as a whole by `jobcast audit verify`; this finds what was changed
// last, at once.

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
/** More owners would delay the start. */
const mostOwners = 1000

/** Of each owner; one whose audit fits has no damage. `isInEntries`: found in what this seal covers, which the next seal does not. */
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
  // A chain of one: what came before it was checked when it was last.
  const verifier = new AuditVerifier({ ...seal, publicKey: signer.publicKey }, { isPart: true })
  const found = await store.readSealed({ ownerNo, after: seal.seal - 1, upTo: seal.seal })
  for (const line of found?.lines ?? []) verifier.add(line)
  if (found) verifier.add(sealLine(found.seal))
  const verdict = verifier.end()
  if (verdict.kind === 'fits') return undefined
  const { auditId, because } = verdict
  return { auditId, because }
}
