// Builds what seals the audit, and checks at start what was sealed before.

import type { Config } from './config/config.ts'
import { KnownSeals } from './domain/audit/known-seals.ts'
import type { AuditSigner } from './domain/audit/ports/signer.ts'
import { AuditSealer } from './domain/audit/seal-audit.ts'
import type { Store } from './domain/common/ports/store.ts'
import type { Tell } from './observe/events.ts'
import type { Metrics } from './observe/metrics.ts'
import { ensureAuditSigner } from './secrets/audit-key.ts'
import { SealsFile } from './secrets/seals-file.ts'

type AuditDeps = { store: Store; tell: Tell; metrics: Metrics; now: () => number; stopping: AbortSignal }

/** Without a key entries are written, but not sealed. */
export async function openAudit(
  config: Config,
  { store, tell, metrics, now, stopping }: AuditDeps,
): Promise<{ signer?: AuditSigner; sealer?: AuditSealer }> {
  const file = config.databaseUrl === undefined ? new SealsFile(config.dataFolder) : undefined
  const signer = await ensureAuditSigner(config, store, tell, file?.left?.keyId)
  if (signer === undefined) {
    tell({ kind: 'audit-unsealed' })
    return {}
  }
  const sealer = new AuditSealer({
    ...{ store, signer, now, stopping },
    known: new KnownSeals(signer.publicKey, file?.left?.seals),
    onDamaged: (damaged) => tell({ kind: 'audit-damaged', ...damaged }),
    keepSeals: file && ((seals) => file.keep(signer.keyId, seals)),
  })
  await sealer.check()
  metrics.gauge(
    'jobcast_audit_damaged_owners',
    'Owners whose audit was changed outside of the service',
    () => sealer.damaged,
  )
  return { signer, sealer }
}
