// Verifies an export of the audit against a checkpoint that was stored elsewhere, without the service.
//
// Each seal must be signed by the key of the checkpoint, follow the previous seal, and cover exactly the entries before it.
// The seal with the number of the checkpoint must equal the checkpoint, which detects a history rewritten with the right key,
// a second chain and an older state.
//
// Old entries are purged, so an export may not begin with the first seal. Then the newest purged seal comes first, without its
// entries, and its signed time shows whether the entries were old enough. An attacker who deletes younger entries has no such
// seal.

import type { KeyObject } from 'node:crypto'
import { hashBytes, leafHashes, merkleRoot } from './merkle.ts'
import {
  type Checkpoint,
  isSignedBy,
  publicKeyId,
  readPublicKey,
  readSeal,
  type Seal,
  sealHash,
} from './seal.ts'

export type AuditVerdict =
  | { kind: 'fits'; entries: number; seals: number; from: string; to: string }
  /** `auditId`: the first entry that does not fit; null: there are no entries. */
  | { kind: 'does-not-fit'; auditId: number | null; because: string }

type Problem = { auditId: number | null; because: string }

/** More entries than any seal covers. Limits the memory for an export without seals. */
const mostUnsealed = 1_000_000
const dayMs = 24 * 60 * 60_000
/** The same as the default of the setting keep-audit. */
const keptDaysByDefault = 400
/** The tolerated difference between the clocks of the service and the verifier. */
const clocksDifferMs = 60 * 60_000

export type VerifyOptions = {
  /** Earlier entries are omitted; for the service, which reads only the end. */
  isPart?: boolean
  /** How long entries are retained. */
  keptDays?: number
  /** When the export was made; default: now. */
  exportedAt?: number
}

export class AuditVerifier {
  readonly #checkpoint: Checkpoint
  readonly #key: KeyObject | undefined
  #pending: { auditId: number; leaf: Buffer }[] = []
  readonly #isPart: boolean
  readonly #keptDays: number
  readonly #exportedAt: number
  #lastId = 0
  #entries = 0
  /** The newest purged seal. */
  #purged: Seal | undefined
  #first: Seal | undefined
  #last: Seal | undefined
  #problem: Problem | undefined

  constructor(checkpoint: Checkpoint, options: VerifyOptions = {}) {
    const { isPart = false, keptDays = keptDaysByDefault, exportedAt = Date.now() } = options
    this.#checkpoint = checkpoint
    this.#isPart = isPart
    this.#keptDays = keptDays
    this.#exportedAt = exportedAt
    try {
      const key = readPublicKey(checkpoint.publicKey)
      if (isSignedBy(key, checkpoint)) this.#key = key
    } catch {
      // An invalid key is treated like a wrong signature.
    }
    if (this.#key === undefined || publicKeyId(checkpoint.publicKey) !== checkpoint.keyId) {
      this.#problem = problem(checkpoint.firstAuditId, 'the checkpoint is not signed by its own key')
    }
  }

  /** Adds a line of the export, without its line break. False: verification has ended. */
  add(line: string): boolean {
    if (this.#problem) return false
    const value = parse(line)
    const auditId = (value as { auditId?: unknown } | undefined)?.auditId
    const seal = readSeal(value)
    if (Number.isSafeInteger(auditId)) this.#problem = this.#addEntry(auditId as number, line, seal)
    else if (seal) this.#problem = this.#addSeal(seal)
    else this.#problem = { auditId: this.#nextId(), because: 'a line is neither an entry nor a seal' }
    return this.#problem === undefined
  }

  end(): AuditVerdict {
    this.#problem ??= this.#judgeEnd()
    if (this.#problem) return { kind: 'does-not-fit', ...this.#problem }
    const [first, last] = [this.#first as Seal, this.#last as Seal]
    return {
      kind: 'fits',
      entries: this.#entries,
      seals: last.seal - first.seal + 1,
      from: first.at,
      to: last.at,
    }
  }

  #addEntry(auditId: number, line: string, seal: Seal | undefined): Problem | undefined {
    if (auditId <= this.#lastId) return problem(auditId, 'the entry is not behind the one before it')
    if (seal !== undefined) return problem(auditId, 'the line is an entry and a seal')
    if (this.#pending.length >= mostUnsealed) return problem(auditId, 'the entries have no seal')
    this.#lastId = auditId
    this.#pending.push({ auditId, leaf: leafHashes([line]) })
    return undefined
  }

  #addSeal(line: Seal & { leaves?: unknown }): Problem | undefined {
    const isPurged = !this.#isPart && !this.#last && this.#pending.length === 0
    const wrong = this.#judgeChain(line) ?? (isPurged ? this.#judgeAge(line) : this.#judgeEntries(line))
    if (wrong) return wrong
    if (isPurged) {
      this.#purged = line
      this.#last = line
      this.#lastId = line.lastAuditId
      return undefined
    }
    this.#entries += this.#pending.length
    this.#pending = []
    this.#first ??= line
    this.#last = line
    return undefined
  }

  #judgeChain(seal: Seal): Problem | undefined {
    const auditId = this.#pending[0]?.auditId ?? seal.firstAuditId
    const said = (because: string) => ({ auditId, because: `seal ${seal.seal} ${because}` })
    const { ownerId, keyId } = this.#checkpoint
    if (seal.ownerId !== ownerId) return said('is of another owner')
    if (seal.keyId !== keyId || !this.#key || !isSignedBy(this.#key, seal))
      return said('is not signed by the key of the checkpoint')
    const before = this.#last
    if (before && seal.seal !== before.seal + 1) return said(`follows seal ${before.seal}`)
    if (before && seal.previous !== sealHash(before)) return said('does not continue the seal before it')
    if (!before && (seal.seal === 1) !== (seal.previous === null)) return said('has no beginning')
    if (seal.seal === this.#checkpoint.seal && sealHash(seal) !== sealHash(this.#checkpoint))
      return said('is not the checkpoint: the history was written twice')
    return undefined
  }

  #judgeAge({ seal, at, firstAuditId }: Seal): Problem | undefined {
    const purgedBefore = this.#exportedAt - this.#keptDays * dayMs + clocksDifferMs
    if (Date.parse(at) < purgedBefore) return undefined
    const kept = `seal ${seal} of ${at} is retained for ${this.#keptDays} days`
    return problem(firstAuditId, `the beginning is missing: ${kept}, but its entries are not there`)
  }

  /** The hashes in a seal identify the entry that does not fit; its root verifies the hashes. */
  #judgeEntries(seal: Seal & { leaves?: unknown }): Problem | undefined {
    const found = this.#pending
    const because = `seal ${seal.seal} has other entries`
    const leaves = typeof seal.leaves === 'string' ? Buffer.from(seal.leaves, 'base64') : Buffer.alloc(0)
    const isWhole =
      leaves.length === seal.entries * hashBytes && merkleRoot(leaves).toString('hex') === seal.root
    if (isWhole) {
      const at = found.findIndex(({ leaf }, index) => {
        return !leaf.equals(leaves.subarray(index * hashBytes, (index + 1) * hashBytes))
      })
      const wrong = found[at]
      if (wrong) return { auditId: wrong.auditId, because }
    }
    const isSame =
      found.length === seal.entries &&
      found[0]?.auditId === seal.firstAuditId &&
      this.#lastId === seal.lastAuditId &&
      merkleRoot(Buffer.concat(found.map(({ leaf }) => leaf))).toString('hex') === seal.root
    if (isSame) return undefined
    const isCut = isWhole && found.length < seal.entries
    return { auditId: isCut ? seal.lastAuditId : (found[0]?.auditId ?? seal.firstAuditId), because }
  }

  #judgeEnd(): Problem | undefined {
    const { seal, firstAuditId } = this.#checkpoint
    const unsealed = this.#pending[0]
    if (unsealed) return problem(unsealed.auditId, 'the last entries have no seal')
    const [first, last] = [this.#first, this.#last]
    if (!first || !last) return problem(firstAuditId, 'there is no seal with its entries')
    if (last.seal < seal) {
      const next = last.seal + 1 === seal ? firstAuditId : last.lastAuditId + 1
      return problem(next, `the end is missing: seals ${last.seal + 1} to ${seal}`)
    }
    const { seal: begin } = this.#purged ?? first
    if (begin > seal)
      return problem(first.firstAuditId, `the checkpoint is older than the first seal, ${begin}`)
    if (!this.#isPart && !this.#purged && begin > 1)
      return problem(first.firstAuditId, `the beginning is missing: seals 1 to ${begin - 1}`)
    return undefined
  }

  #nextId(): number | null {
    return this.#pending[0]?.auditId ?? (this.#lastId > 0 ? this.#lastId + 1 : this.#checkpoint.firstAuditId)
  }
}

function problem(auditId: number | null, because: string): Problem {
  return { auditId, because }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
