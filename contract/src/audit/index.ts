// The format of audit exports and their verification: for the service, and for programs that have only the file.

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
