// The format of the audit as it is exported, and how it is verified: for the service and for whoever has only the file.

export { hashBytes, leafHashes, merkleRoot } from './merkle.ts'
export {
  type Checkpoint,
  isSignedBy,
  publicKeyId,
  publicKeyText,
  readCheckpoint,
  readPublicKey,
  readSeal,
  type Seal,
  type SealBody,
  sealHash,
  signedText,
} from './seal.ts'
export { type AuditVerdict, AuditVerifier, type VerifyOptions } from './verify-audit.ts'
