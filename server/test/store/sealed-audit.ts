// Seals of a test: a key of its own, and what an export verified with it says.

import { generateKeyPairSync, sign } from 'node:crypto'
import {
  AuditVerifier,
  type Checkpoint,
  publicKeyId,
  publicKeyText,
  type VerifyOptions,
} from '@jobcast/contract/audit'
import type { Caller } from '../../src/domain/access/caller.ts'
import { KnownSeals } from '../../src/domain/audit/known-seals.ts'
import { exportAudit } from '../../src/domain/audit/read-audit.ts'
import { AuditSealer } from '../../src/domain/audit/seal-audit.ts'
import type { Store } from '../../src/domain/common/ports/store.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
export const auditKey = publicKeyText(publicKey)
const signer = {
  publicKey: auditKey,
  keyId: publicKeyId(auditKey),
  sign: (signed: string) => sign(null, Buffer.from(signed), privateKey).toString('base64url'),
}

type Watched = { known?: KnownSeals; onDamaged?: (damaged: { ownerId: string; because: string }) => void }

/** As a node that has just started, if `known` does not say what it has seen. */
export function auditSealer(
  store: Store,
  now: () => number,
  { known = new KnownSeals(auditKey), onDamaged = () => undefined }: Watched = {},
): AuditSealer {
  return new AuditSealer({ store, signer, known, now, onDamaged, stopping: new AbortController().signal })
}

export async function auditLines(store: Store, ownerNo: number): Promise<string[]> {
  const pieces = await Array.fromAsync(exportAudit({ store }, { ownerNo } as Caller, () => false))
  return pieces.join('').split('\n').slice(0, -1)
}

export async function verdictOf(store: Store, ownerNo: number, lines: string[], options?: VerifyOptions) {
  return verdictBy(await checkpointOf(store, ownerNo), lines, options)
}

export async function checkpointOf(store: Store, ownerNo: number): Promise<Checkpoint> {
  const last = await store.getLastSeal({ ownerNo })
  return { ...last?.seal, publicKey: auditKey } as Checkpoint
}

export function verdictBy(checkpoint: Checkpoint, lines: string[], options?: VerifyOptions) {
  const verifier = new AuditVerifier(checkpoint, options)
  for (const line of lines) verifier.add(line)
  return verifier.end()
}
