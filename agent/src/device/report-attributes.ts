// Reports the attributes of this device: the agent's version, the system, its time zone, and those in a file. Sends only
// what has changed since the last report, and null for removed attributes.

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { systemReason } from '@jobcast/contract/words'
import packageJson from '../../package.json' with { type: 'json' }
import type { Tell } from '../events.ts'
import { type AskDeps, ask } from '../transport/ask.ts'
import { parseObject } from '../transport/transport.ts'
import { timeZone } from './time-zone.ts'

type AttributeOptions = AskDeps & {
  /** Contains a JSON object. */
  file: string | undefined
  /** File with the attributes that the server has, so that removed ones are noticed after a restart, too. */
  kept: string
  stopping: AbortSignal
  tell: Tell
}

type Values = Record<string, unknown>

const watchEveryMs = 1000

export class AttributeReporter {
  readonly #options: AttributeOptions
  #known: Values
  /** Everything has been reported once since this start. */
  #isComplete = false
  #reporting: Promise<void> = Promise.resolve()
  #isQueued = false
  #signature = ''

  constructor(options: AttributeOptions) {
    this.#options = options
    this.#known = readObject(options.kept) ?? {}
  }

  start(): void {
    const { file, stopping } = this.#options
    this.report()
    if (file === undefined) return
    // Compared with the signature at the last read, so that a change right after it is not missed.
    const timer = setInterval(() => {
      if (signatureOf(file) !== this.#signature) this.report()
    }, watchEveryMs).unref()
    stopping.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  /** One report at a time; calls during a report lead to one more after it. */
  report(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#reporting = this.#reporting.then(() => {
      this.#isQueued = false
      return this.#send().catch((error: unknown) => {
        if (!this.#options.stopping.aborted) this.#options.tell({ kind: 'attributes-failed', error })
      })
    })
  }

  /** The current attributes. Throws if the file cannot be read. */
  current(): Values {
    return { ...machine(), ...this.#fromFile() }
  }

  /** Resolves when nothing is being sent any more. */
  async stopped(): Promise<void> {
    await this.#reporting
  }

  async #send(): Promise<void> {
    const { kept, stopping, tell } = this.#options
    const now = this.current()
    const reported = changesOf(this.#isComplete ? this.#known : {}, now)
    for (const name of Object.keys(this.#known)) if (!Object.hasOwn(now, name)) reported[name] = null
    if (stopping.aborted || Object.keys(reported).length === 0) return
    const answer = await ask(this.#options, { name: 'attributes' }, { state: { reported } }, stopping)
    if (answer.outcome === 'rejected') {
      tell({ kind: 'attributes-refused', message: answer.message })
      return
    }
    this.#known = now
    this.#isComplete = true
    writeFileSync(kept, JSON.stringify(now), { mode: 0o600 })
  }

  #fromFile(): Values {
    const { file } = this.#options
    if (file === undefined) return {}
    this.#signature = signatureOf(file)
    const values = parseObject(readText(file))
    if (values === undefined) throw new Error(`${file} is not a JSON object`)
    return values
  }
}

/** The attributes that the agent detects itself. */
function machine(): Values {
  return { agentVersion: packageJson.version, os: platform(), arch: arch(), timeZone: timeZone() }
}

/** Changes when the file is replaced or written. */
function signatureOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
}

function changesOf(before: Values, now: Values): Values {
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => before[name] !== value))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${systemReason(error as Error)}`)
  }
}

function readObject(path: string): Values | undefined {
  try {
    return parseObject(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
