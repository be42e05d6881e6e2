// Checks whether the files of certificate and key have changed, so that a renewal needs no signal. Compares modification times and
// not file system events, which miss replaced links, such as those of secrets mounted by Kubernetes.

import { stat } from 'node:fs/promises'
import type { TlsFiles } from '../config/config.ts'

const pollIntervalMs = 2000

type CertificateWatchDeps = {
  files: TlsFiles
  /** Called when both files are unchanged since the previous check, and at least one differs from the one in use. */
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

  /** The current files are considered in use. */
  async start(): Promise<void> {
    this.#used = this.#seen = await this.#read()
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined
      })
    }, this.#deps.everyMs ?? pollIntervalMs)
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
    // A renewal writes two files, so nothing is read until both remain unchanged.
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
