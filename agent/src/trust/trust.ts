// Decides what may run on a device that trusts authors instead of its server: only jobs signed by enough of them, for this
// job and this audience, not expired, in no lower version than before, and with one content per version.

import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { canonicalJson, isExpired, SignatureError, type SignedJob } from '@jobcast/contract/signature'
import { systemReason } from '@jobcast/contract/words'
import { Refused } from '../document/document-fields.ts'
import type { Offered } from '../execution/offered.ts'
import { StartRefused } from '../state/start-refused.ts'
import { type AuthorKey, readAuthorKeys } from './author-key.ts'
import { type FillDeps, type Filled, fillSigned } from './fill-signed.ts'
import { SeenVersions } from './seen-versions.ts'
import { verifyEnvelope } from './verify-envelope.ts'

export type TrustOptions = {
  /** PEM file with the public keys of authors. Read for each execution, so that a replaced file takes effect at once. */
  keysFile: string
  /** How many different keys must have signed; 0: jobs without signatures run as well. */
  requiredSignatures: number
  /** Jobs signed for another audience, or for none, are refused. Undefined: the audience is not checked. */
  audience?: string
}

type TrustDeps = FillDeps & { now: () => number }

const writableByAll = 0o002

export class Trust {
  readonly #options: TrustOptions
  readonly #deps: TrustDeps
  readonly #seen: SeenVersions

  private constructor(options: TrustOptions, deps: TrustDeps, seen: SeenVersions) {
    this.#options = options
    this.#deps = deps
    this.#seen = seen
  }

  /** Throws StartRefused. */
  static async open(options: TrustOptions, versionsFile: string, deps: TrustDeps): Promise<Trust> {
    const { keysFile, requiredSignatures } = options
    const keys = await readKeys(keysFile).catch((error: Error) => {
      throw new StartRefused(`The file of trusted keys ${keysFile} ${error.message}.`)
    })
    if (keys.length < requiredSignatures) {
      throw new StartRefused(
        `${requiredSignatures} signatures are required, but ${keysFile} has ${keys.length} different keys.`,
      )
    }
    const seen = await SeenVersions.open(versionsFile).catch((error: Error) => {
      throw new StartRefused(`The versions seen, ${versionsFile}, cannot be used: ${error.message}`)
    })
    return new Trust(options, deps, seen)
  }

  /** What to run instead of the server's document. Throws Refused; then nothing may run. */
  async check(offered: Offered): Promise<Filled | undefined> {
    const required = this.#options.requiredSignatures
    if (offered.jobSignature === undefined) {
      if (required === 0) return undefined
      throw new Refused('it is not signed, and this device runs only signed jobs')
    }
    try {
      return await this.#checkSigned(offered, Math.max(1, required))
    } catch (error) {
      if (error instanceof Refused) throw new Refused(`not trusted: ${error.message}`)
      if (error instanceof SignatureError) throw new Refused(`not trusted: its signature: ${error.message}`)
      throw error
    }
  }

  async #checkSigned(offered: Offered, required: number): Promise<Filled> {
    const keys = await readKeys(this.#options.keysFile).catch((error: Error) => {
      throw new Refused(`the file of trusted keys ${error.message}`)
    })
    const signed = verifyEnvelope(offered.jobSignature, keys, required)
    const { jobName, version } = signed
    if (jobName !== offered.jobName) {
      throw new Refused(
        `the signature is for the job "${jobName}", but this is the job "${offered.jobName ?? ''}"`,
      )
    }
    this.#checkAudience(signed)
    if (isExpired(signed, this.#deps.now())) throw new Refused(`the signature expired at ${signed.notAfter}`)
    const sha256 = createHash('sha256').update(canonicalJson(signed)).digest('hex')
    const seen = this.#seen.of(jobName)
    if (version < seen.version) {
      throw new Refused(
        `its version ${version} is older than version ${seen.version}, which this device has accepted`,
      )
    }
    if (version === seen.version && (seen.sha256 ?? sha256) !== sha256) {
      throw new Refused(
        `its version ${version} differs from the version ${version} that this device has accepted`,
      )
    }
    const filled = fillSigned(signed, offered, this.#deps)
    await this.#seen.record(jobName, { version, sha256 }).catch((error: Error) => {
      throw new Refused(`the agent cannot write to its disk: ${error.message}`)
    })
    return filled
  }

  /** Checked before the version is recorded: a higher version for another audience would block the genuine ones. */
  #checkAudience({ audience: signedFor }: SignedJob): void {
    const { audience } = this.#options
    if (audience === undefined || audience === signedFor) return
    throw new Refused(
      signedFor === undefined
        ? `it is signed without an audience, and this device runs only jobs signed for "${audience}"`
        : `it is signed for the audience "${signedFor}", and this device runs only jobs signed for "${audience}"`,
    )
  }
}

async function readKeys(path: string): Promise<AuthorKey[]> {
  const file = await stat(path).catch((error: Error) => {
    throw new Error(`cannot be read: ${systemReason(error)}`)
  })
  if (file.mode & writableByAll) throw new Error('can be written by everyone (chmod o-w)')
  return readAuthorKeys(await readFile(path, 'utf8'))
}
