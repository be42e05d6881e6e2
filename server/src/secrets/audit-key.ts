// The key that signs the seals of the audit log: from a file given by a setting, or, for the embedded database, generated once
// and stored in the data folder. A chain can only be continued with its own key.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { publicKeyId, publicKeyText } from '@jobcast/contract/audit'
import type { AuditSigner } from '../domain/audit/ports/signer.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { Tell } from '../observe/events.ts'
import { StartRefused } from '../store/migrate.ts'
import { keepKeyFile, readKeyFile } from './key-file.ts'

type KeyPlace = { auditKeyFile: string | undefined; dataFolder: string; databaseUrl: string | undefined }

const restore =
  'Restore the file from a backup, or name it with --audit-key. A chain of seals is never continued with another key.'

/** Undefined: no key on PostgreSQL, where all nodes need the same one and none is generated; entries are written but not sealed. */
export async function ensureAuditSigner(
  place: KeyPlace,
  store: Pick<Store, 'listLastSeals'>,
  tell: Tell,
  /** The key with which an earlier process has sealed, because seals may have been deleted from the database. */
  knownKeyId?: string | undefined,
): Promise<AuditSigner | undefined> {
  const { auditKeyFile, dataFolder, databaseUrl } = place
  const sealedBy = (await findSealingKey(store)) ?? knownKeyId
  const isKept = auditKeyFile === undefined && databaseUrl === undefined
  const file = auditKeyFile ?? (isKept ? join(dataFolder, 'audit-key.pem') : undefined)
  const text = file === undefined ? undefined : readKeyFile(file)
  if (text === undefined) {
    if (sealedBy !== undefined) {
      const missing = file ?? 'The file of --audit-key'
      throw new StartRefused(
        `${missing} is missing: the audit is sealed with the key ${sealedBy}. ${restore}`,
      )
    }
    if (!isKept || file === undefined) {
      if (file === undefined) return undefined
      throw new StartRefused(`Cannot read the key of the audit: there is no file ${file}.`)
    }
  }
  const signer = toSigner(text ?? keepNew(file as string, dataFolder), file as string)
  if (sealedBy !== undefined && sealedBy !== signer.keyId) {
    throw new StartRefused(
      `${file} has the key ${signer.keyId}, but the audit is sealed with the key ${sealedBy}. ${restore}`,
    )
  }
  if (text === undefined) tell({ kind: 'audit-key-created', file: file as string, keyId: signer.keyId })
  return signer
}

/** The key of the newest seals, which is the same for all owners. */
async function findSealingKey(store: Pick<Store, 'listLastSeals'>): Promise<string | undefined> {
  const limit = 100
  for (let after = 0; ; ) {
    const found = await store.listLastSeals({ after, limit })
    const sealed = found.find(({ seal }) => seal !== null)
    if (sealed) return sealed.seal?.keyId
    if (found.length < limit) return undefined
    after = found.at(-1)?.ownerNo ?? 0
  }
}

function toSigner(pem: string, file: string): AuditSigner {
  const key = readKey(pem)
  if (key === undefined) {
    throw new StartRefused(`${file} contains no Ed25519 private key (PEM). ${restore}`)
  }
  const publicKey = publicKeyText(createPublicKey(key))
  return {
    publicKey,
    keyId: publicKeyId(publicKey),
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64url'),
  }
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'ed25519' ? key : undefined
  } catch {
    return undefined
  }
}

function keepNew(path: string, dataFolder: string): string {
  const text = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return keepKeyFile(path, text, dataFolder, {
    name: 'the key of the audit',
    instead: 'name a file of your own with --audit-key',
  })
}
