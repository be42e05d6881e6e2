// Caches state of hawkBit devices on this node, so that a poll only reads a queue. Evicted state is read, or requested from the
// device, again.

import type { DeviceKey } from '../../../domain/device/device-key.ts'
import { deviceText } from '../../../domain/device/ports/device-link.ts'

/** `installed`: the last execution that succeeded; `begun`: the attempt whose files the device requested last. */
type Known = { installed?: { id: number | undefined; at: number }; configAt?: number; begun?: string }
type Attempt = { jobExecutionId: number; attempt: number }

const maxDevices = 200_000
// Cached for a limited time, because another node may have received later reports.
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

  /** Whether to request the device's attributes: on its first poll here, after each execution, and once a day. */
  lacksConfig(device: DeviceKey): boolean {
    const { configAt } = this.#of(device)
    return configAt === undefined || this.#elapsed() - configAt > configForMs
  }

  configSent(device: DeviceKey): void {
    this.#of(device).configAt = this.#elapsed()
  }

  /** `installed`: the execution, if it succeeded. */
  ended(device: DeviceKey, installed: number | undefined): void {
    const known = this.#of(device)
    delete known.configAt
    if (installed !== undefined) known.installed = { id: installed, at: this.#elapsed() }
  }

  /** The device has requested the deployment: its reports from now on belong to this attempt. */
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
