// A secret: a named, write-only value for devices. Documents use it as `${secrets.NAME}`; it is filled in when a device gets
// the document (state/documents.ts). This file has the owner's operations.
//
// Read next: mask-reports.ts, how values are kept out of device reports; secret-mask.ts, which replaces them.

import { ApiError, maxSecretBytes, type SecretContent, secrets } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import type { SecretBox } from '../access/ports/secret-box.ts'
import { principalOf } from '../access/principal.ts'
import { tooMany } from '../access/quotas.ts'
import { originOf } from '../audit/audit.ts'
import type { Expectation } from '../common/entity-tag.ts'
import { usersText } from '../common/in-use.ts'
import { notExpected, notFound } from '../common/not-found.ts'
import type { Put } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredSecret } from './ports/secrets.ts'

export type SecretDeps = { store: Store; now: () => number; secretBox: SecretBox }

/** How many former values of a secret are masked, if it is replaced repeatedly while executions use it. */
const mostFormer = 8

export async function putSecret(
  { store, now, secretBox }: SecretDeps,
  caller: Caller,
  secretName: string,
  { value }: SecretContent,
  before: Expectation = {},
): Promise<Put<StoredSecret>> {
  const { ownerNo } = caller
  if (Buffer.byteLength(value) > maxSecretBytes) throw refused('must be at most 16 KiB in UTF-8')
  // No environment variable can hold a NUL.
  if (value.includes('\0') || !value.isWellFormed()) {
    throw refused('must be text without NUL characters and lone surrogates')
  }
  if (!secretBox.isOpen) {
    throw refused('needs a key to encrypt secrets: set JOBCAST_SECRETS_KEY or JOBCAST_SECRETS_KEY_FILE')
  }
  const sealed = secretBox.encrypt(value, ownerNo)
  const by = { principal: principalOf(caller), at: now(), ...originOf(caller) }
  const most = { most: secrets.quota, mostFormer }
  const outcome = await store.putSecret({ ownerNo, secretName, sealed, ...by, ...most, ...before })
  if (outcome.kind === 'not-expected') throw notExpected(secrets, secretName, before)
  if (outcome.kind === 'too-many') throw tooMany(secrets)
  return { created: outcome.created, value: outcome.value }
}

export async function getSecret(
  { store }: Pick<SecretDeps, 'store'>,
  { ownerNo }: Caller,
  secretName: string,
): Promise<StoredSecret> {
  const secret = await store.getSecret({ ownerNo, secretName })
  if (secret === undefined) throw notFound('J-318', secretName)
  return secret
}

export async function deleteSecret(
  { store, now }: SecretDeps,
  caller: Caller,
  secretName: string,
): Promise<void> {
  const by = { principal: principalOf(caller), at: now(), ...originOf(caller) }
  const outcome = await store.deleteSecret({ ownerNo: caller.ownerNo, secretName, ...by })
  if (outcome.kind === 'unknown-secret') throw notFound('J-318', secretName)
  if (outcome.kind !== 'in-use') return
  const { jobNames, scheduleNames, runIds } = outcome
  const suffix = usersText({ job: jobNames, schedule: scheduleNames, 'unfinished run': runIds })
  throw new ApiError('J-315', { suffix })
}

/** Requires the secrets that a document names. Throws J-318 for the first one that does not exist. */
export async function requireSecrets(
  { store }: { store: Pick<Store, 'findSecrets'> },
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  secretNames: readonly string[] = [],
): Promise<void> {
  if (secretNames.length === 0) return
  const found = await store.findSecrets({ ownerNo, secretNames: [...secretNames] })
  const names = new Set(found.map(({ secretName }) => secretName))
  const unknown = secretNames.find((name) => !names.has(name))
  if (unknown !== undefined) throw noSecret(unknown)
}

/** The error for an unknown secret that a document names. */
export function noSecret(secretName: string): ApiError {
  const detail = `The document uses \${secrets.${secretName}}, but there is no secret ${JSON.stringify(secretName)}.`
  return new ApiError('J-318', { field: 'document', detail })
}

function refused(message: string): ApiError {
  return new ApiError('J-500', { field: 'value', detail: `value ${message}.` })
}
