// Caches the masks of runs with secrets. Secret parameters of a run never change; named secrets may change on any node, so
// they are read for each report, and the mask is rebuilt only if they have changed.

import { namesUsed, type ParameterValue } from '@jobcast/contract/parameters'
import type { SecretBox } from '../domain/access/ports/secret-box.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { Documents } from '../domain/execution/ports/documents.ts'
import type { Masks, SecretRun } from '../domain/execution/ports/masks.ts'
import { type Held, nothingHeld, SecretMask } from '../domain/secret/secret-mask.ts'
import { openSecrets } from '../domain/trigger/run-values.ts'

type MaskStore = Pick<Store, 'getRunValues' | 'findAllValues'>

/** An entry is a few numbers. */
const maxExecutions = 50_000
const maxRuns = 1000
/** All cached masks together, in bytes of values; a mask takes up to 42 times as much memory. */
const maxCachedBytes = 1024 * 1024
/** Per mask: room for the current values (maxSecretPlaceholders) and as many former ones. */
const maxBytes = 512 * 1024

/** `ofParameters`: values that never change. `sealed`: the named secrets that the mask was built from. */
type Cached = {
  names: string[]
  ofParameters: string[]
  hasSecrets: boolean
  sealed: string
  mask: SecretMask | undefined
}

export class SecretMasks implements Masks {
  readonly #store: MaskStore
  readonly #documents: Pick<Documents, 'content'>
  readonly #box: SecretBox
  readonly #executions = new Map<number, SecretRun>()
  readonly #runs = new Map<number, Cached>()
  #cachedBytes = 0

  constructor(store: MaskStore, documents: Pick<Documents, 'content'>, box: SecretBox) {
    this.#store = store
    this.#documents = documents
    this.#box = box
  }

  runOf({ ownerNo, jobExecutionId }: { ownerNo: number; jobExecutionId: number }): SecretRun | undefined {
    const run = this.#executions.size === 0 ? undefined : this.#executions.get(jobExecutionId)
    return run?.ownerNo === ownerNo ? run : undefined
  }

  remember(jobExecutionId: number, run: SecretRun): void {
    if (this.#executions.size >= maxExecutions) this.#executions.clear()
    this.#executions.set(jobExecutionId, run)
  }

  async of(run: SecretRun): Promise<SecretMask | undefined> {
    const cached = this.#runs.get(run.runId) ?? (await this.#read(run))
    if (!cached.hasSecrets) return undefined
    const { names, ofParameters } = cached
    const { ownerNo } = run
    const found = names.length === 0 ? [] : await this.#store.findAllValues({ ownerNo, secretNames: names })
    const sealed = found.map((each) => each.sealed).join(' ')
    if (cached.mask === undefined || cached.sealed !== sealed) {
      const named = found.map((each) => this.#box.decrypt(each.sealed, ownerNo))
      const { values, bytes } = upTo(maxBytes, [...ofParameters, ...named])
      const mask = new SecretMask(values)
      this.#keep(run.runId, { ...cached, sealed, mask }, bytes)
      return mask
    }
    return cached.mask
  }

  seal({ tail, covered }: Held, ownerNo: number): string | null {
    if (tail.length === 0) return null
    return this.#box.encrypt(`${covered} ${Buffer.from(tail).toString('base64')}`, ownerNo)
  }

  /** Without the key it was sealed with, the held-back end of the output is lost. */
  open(sealed: string | null, ownerNo: number): Held {
    if (sealed === null) return nothingHeld
    try {
      const [covered, tail = ''] = this.#box.decrypt(sealed, ownerNo).split(' ')
      return { covered: Number(covered), tail: Buffer.from(tail, 'base64') }
    } catch {
      return nothingHeld
    }
  }

  async #read({ runId, jobVersion, ownerNo }: SecretRun): Promise<Cached> {
    const { template } = await this.#documents.content(jobVersion)
    const stored = await this.#store.getRunValues({ runId })
    const ofParameters = Object.values(openSecrets(this.#box, ownerNo, stored?.secrets ?? null)).flatMap(
      texts,
    )
    const names = template ? namesUsed(template, 'secrets') : []
    const hasSecrets = names.length + ofParameters.length > 0
    const cached = { names, ofParameters, hasSecrets, sealed: '', mask: undefined }
    this.#keep(runId, cached, 0)
    return cached
  }

  #keep(runId: number, cached: Cached, bytes: number): void {
    this.#cachedBytes += bytes
    if (this.#runs.size >= maxRuns || this.#cachedBytes > maxCachedBytes) {
      this.#runs.clear()
      this.#cachedBytes = bytes
    }
    this.#runs.set(runId, cached)
  }
}

/** Takes values from the front, because the current ones come first. */
function upTo(limit: number, all: string[]): { values: string[]; bytes: number } {
  const values: string[] = []
  let bytes = 0
  for (const value of all) {
    bytes += Buffer.byteLength(value)
    if (bytes > limit) break
    values.push(value)
  }
  return { values, bytes }
}

/** A list is masked item by item. */
function texts(value: ParameterValue): string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)]
}
