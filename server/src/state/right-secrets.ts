// Caches verified secrets, so that the next request with one needs no SHA-256, which would take a twentieth of a trigger's
// time. Whether a secret is still valid is looked up every time.

import type { SecretCheck } from '../domain/access/ports/secret-check.ts'
import { hashSecret, type SecretPrefix, secretId, secretMatches } from '../domain/access/secret-text.ts'

const maxSecrets = 10_000

export class RightSecrets implements SecretCheck {
  readonly #known = new Map<string, { id: string; hash: Uint8Array }>()
  readonly #max: number

  constructor(max = maxSecrets) {
    this.#max = max
  }

  get size(): number {
    return this.#known.size
  }

  idOf(prefix: SecretPrefix, text: string): string | undefined {
    const known = this.#known.get(text)
    return known && text.startsWith(`${prefix}_`) ? known.id : secretId(prefix, text)
  }

  matches(text: string, storedHash: Uint8Array | undefined): boolean {
    const known = this.#known.get(text)
    const hash = known?.hash ?? hashSecret(text)
    const isRight = secretMatches(text, storedHash, hash)
    if (isRight && known === undefined) this.#keep(text, hash)
    return isRight
  }

  #keep(text: string, hash: Uint8Array): void {
    const id = secretId(text.slice(0, 2) as SecretPrefix, text)
    if (id === undefined) return
    if (this.#known.size >= this.#max) this.#known.clear()
    this.#known.set(text, { id, hash })
  }
}
