// What this node remembers of devices of hawkBit, so that a poll reads no more than a queue. What is forgotten is read or asked for
// again.

import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { deviceText } from '../../../domain/device/ports/device-link.ts'

/** `installed`: the last execution that has succeeded; `begun`: the attempt whose files it has asked for last. */
type Known = { installed?: { id: number | undefined; at: number }; configAt?: number; begun?: string }
type Attempt = { jobExecutionId: number; attempt: number }

const maxDevices = 200_000
// Another node may have taken what the device reported since.
const installedForMs = 60 * 60_000
const configForMs = 24 * 60 * 60_000

export class KnownDevices {
  readonly #elapsed: () => number
  readonly #devices = new Map<string, Known>()

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  async installedOn(device: DeviceKey, read: () => Promise<number | undefined>): Promise<number | undefined> {
    const known = this.#of(device)
    const at = this.#elapsed()
    if (known.installed && at - known.installed.at < installedForMs) return known.installed.id
    const id = await read()
    known.installed = { id, at }
    return id
  }

  /** Whether its attributes are to be asked for: on its first poll here, after each end of an execution, once a day. */
  lacksConfig(device: DeviceKey): boolean {
    const { configAt } = this.#of(device)
    return configAt === undefined || this.#elapsed() - configAt > configForMs
  }

  configSent(device: DeviceKey): void {
    this.#of(device).configAt = this.#elapsed()
  }

  /** `installed`: it has succeeded. */
  ended(device: DeviceKey, installed: number | undefined): void {
    const known = this.#of(device)
    delete known.configAt
    if (installed !== undefined) known.installed = { id: installed, at: this.#elapsed() }
  }

  /** It has asked what to install: what it reports from now on is of this attempt. */
  begun(device: DeviceKey, { jobExecutionId, attempt }: Attempt): void {
    this.#of(device).begun = `${jobExecutionId}.${attempt}`
  }

  hasBegun(device: DeviceKey, { jobExecutionId, attempt }: Attempt): boolean {
    return this.#of(device).begun === `${jobExecutionId}.${attempt}`
  }

  #of(device: DeviceKey): Known {
    const key = deviceText(device)
    const known = this.#devices.get(key)
    if (known) return known
    if (this.#devices.size >= maxDevices) {
      for (const oldest of this.#devices.keys()) {
        this.#devices.delete(oldest)
        break
      }
    }
    const made: Known = {}
    this.#devices.set(key, made)
    return made
  }
}
