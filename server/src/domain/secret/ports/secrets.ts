import type { Expectation } from '../../common/entity-tag.ts'
import type { OwnerList, Put, Sliced } from '../../common/ports/slices.ts'

type SecretKey = { ownerNo: number; secretName: string }

/** Some of the resources that use it; only unfinished runs. */
export type SecretUsers = { jobNames: string[]; scheduleNames: string[]; runIds: number[] }

export type StoredSecret = {
  secretName: string
  updatedAt: number
  updatedBy: string
  usedBy: SecretUsers
}

/** `sealed`: the value, encrypted. */
type SecretValue = { secretName: string; sealed: string }

type SecretPut = SecretKey &
  Expectation & {
    sealed: string
    principal: string
    at: number
    most: number
    /** How many former values are kept while an unfinished execution may have got them. */
    mostFormer: number
  }

type SecretOutcome = ({ kind: 'put' } & Put<StoredSecret>) | { kind: 'too-many' } | { kind: 'not-expected' }

type SecretRemoval = { kind: 'deleted' } | { kind: 'unknown-secret' } | ({ kind: 'in-use' } & SecretUsers)

export type SecretStore = {
  putSecret(put: SecretPut): Promise<SecretOutcome>
  getSecret(secret: SecretKey): Promise<StoredSecret | undefined>
  listSecrets(list: OwnerList<string>): Promise<Sliced<StoredSecret, string>>
  /** The secrets of these names that exist. */
  findSecrets(secrets: { ownerNo: number; secretNames: string[] }): Promise<SecretValue[]>
  /** The same, with the former values that are kept. */
  findAllValues(secrets: { ownerNo: number; secretNames: string[] }): Promise<SecretValue[]>
  deleteSecret(secret: SecretKey & { principal: string; at: number }): Promise<SecretRemoval>
  /** Purges a batch of former values that no unfinished execution can have got; true: there may be more. */
  purgeFormerValues(): Promise<boolean>
  /** For key rotation: in the order of owner and name, after this one. */
  listSealedSecrets(
    list: SealedCursor & { limit: number },
  ): Promise<(SecretKey & { version: number; sealed: string })[]>
  /** Skips secrets that have been replaced since. */
  replaceSealedSecrets(replaced: {
    sealed: (SecretKey & { version: number; before: string; sealed: string })[]
  }): Promise<void>
}

export type SealedCursor = { ownerNo: number; secretName: string; version: number }
