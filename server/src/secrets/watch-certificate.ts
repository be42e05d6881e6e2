// Looks whether the files of certificate and key have changed, so that a renewal needs no signal. By their dates, not by
// notices of the file system: these miss links that are replaced, as Kubernetes does with mounted secrets.

import { stat } from 'node:fs/promises'
import type { TlsFiles } from '../config/config.ts'

const lookEveryMs = 2000

type CertificateWatchDeps = {
  files: TlsFiles
  /** Called when both files are as they were at the look before, and at least one is not what was used last. */
  onChange: () => Promise<void>
  everyMs?: number
}

export class CertificateWatch {
  readonly #deps: CertificateWatchDeps
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #used: string | undefined
  #seen: string | undefined

  constructor(deps: CertificateWatchDeps) {
    this.#deps = deps
  }

  /** What is there now is in use. */
  async start(): Promise<void> {
    this.#used = this.#seen = await this.#read()
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined
      })
    }, this.#deps.everyMs ?? lookEveryMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const before = this.#seen
    const now = await this.#read()
    this.#seen = now
    // A renewal writes two files: in its middle nothing is read.
    if (now === undefined || now !== before || now === this.#used) return
    this.#used = now
    await this.#deps.onChange()
  }

  /** Undefined while one of them is missing. */
  async #read(): Promise<string | undefined> {
    const { cert, key } = this.#deps.files
    try {
      const found = await Promise.all([stat(cert), stat(key)])
      return found
        .map(({ dev, ino, size, mtimeMs, ctimeMs }) => [dev, ino, size, mtimeMs, ctimeMs].join(' '))
        .join()
    } catch {
      return undefined
    }
  }
}
