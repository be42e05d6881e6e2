// Opens the sealing of the audit, and checks existing seals at start.

import { KnownSeals } from '../domain/audit/known-seals.ts'
import type { AuditSigner } from '../domain/audit/ports/signer.ts'
import { AuditSealer } from '../domain/audit/seal-audit.ts'
import { ensureAuditSigner } from '../secrets/audit-key.ts'
import { SealsFile } from '../secrets/seals-file.ts'
import type { Storage } from './open-storage.ts'
import type { Start } from './start.ts'

/** Without a key, entries are written but not sealed. */
export async function openAudit(
  { config, tell, metrics, stopping }: Start,
  { store, now }: Storage,
): Promise<{ signer?: AuditSigner; sealer?: AuditSealer }> {
  const file = config.databaseUrl === undefined ? new SealsFile(config.dataFolder) : undefined
  const signer = await ensureAuditSigner(config, store, tell, file?.left?.keyId)
  if (signer === undefined) {
    tell({ kind: 'audit-unsealed' })
    return {}
  }
  const sealer = new AuditSealer({
    ...{ store, signer, now, stopping: stopping.signal },
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
