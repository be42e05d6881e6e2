// Identifies the device that published on a topic. The broker has authenticated it, so it is signed in as with a certificate.

import { isNewDeviceId } from '@jobcast/contract'
import { type SignInDeps, signInByCertificate } from '../../domain/access/sign-in.ts'
import { type QuotaDeps, withinQuota } from '../../domain/access/within-quota.ts'
import type { Put } from '../../domain/common/ports/slices.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import type { DevicePut, StoredDevice } from '../../domain/device/ports/devices.ts'

export type BridgeDeviceDeps = SignInDeps &
  QuotaDeps & {
    store: Pick<Store, 'getDevice'>
    recordDevice: (put: DevicePut) => Promise<Put<StoredDevice>>
    now: () => number
    /** Monotonic milliseconds. */
    elapsed: () => number
  }

type Known = { device: DeviceKey; since: number; changes: number }

/** How long a device is cached, to save a query per request. A revoked credential takes effect at once, on any node. */
const rememberedMs = 5000
const mostRemembered = 20_000

export class BridgeDevices {
  readonly #deps: BridgeDeviceDeps
  readonly #owner: { ownerNo: number; ownerId: string }
  readonly #enroll: boolean
  readonly #known = new Map<string, Known>()

  constructor(deps: BridgeDeviceDeps, owner: { ownerNo: number; ownerId: string }, enroll: boolean) {
    this.#deps = deps
    this.#owner = owner
    this.#enroll = enroll
  }

  /** Undefined: the device is unknown, or its credential was revoked. */
  find(deviceId: string): DeviceKey | Promise<DeviceKey | undefined> {
    const { elapsed, credentialChanges } = this.#deps
    const known = this.#known.get(deviceId)
    const isFresh = known?.changes === credentialChanges.count && elapsed() - known.since < rememberedMs
    return known && isFresh ? known.device : this.#lookUp(deviceId)
  }

  async #lookUp(deviceId: string): Promise<DeviceKey | undefined> {
    const { elapsed, credentialChanges } = this.#deps
    const [since, changes] = [elapsed(), credentialChanges.count]
    const device = (await this.#signIn(deviceId)) ?? (this.#enroll ? await this.#create(deviceId) : undefined)
    this.#known.delete(deviceId)
    if (device === undefined) return undefined
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.set(deviceId, { device, since, changes })
    return device
  }

  async #signIn(deviceId: string): Promise<DeviceKey | undefined> {
    const subject = { commonName: deviceId, organization: this.#owner.ownerId }
    const found = await signInByCertificate(this.#deps, subject)
    return found && { ownerNo: found.ownerNo, deviceId }
  }

  /** Does not recreate a device whose credential was revoked: that device still exists. */
  async #create(deviceId: string): Promise<DeviceKey | undefined> {
    if (!isNewDeviceId(deviceId)) return undefined
    const { ownerNo } = this.#owner
    const { now, recordDevice } = this.#deps
    const put = { ownerNo, deviceId, deviceName: deviceId, tags: [], attributes: {}, at: now() }
    const record = () => recordDevice({ ...put, expected: 'nothing' })
    if ((await this.#deps.store.getDevice({ ownerNo, deviceId })) === undefined)
      await withinQuota(this.#deps, 'devices', ownerNo, record, { isCreated: ({ created }) => created })
    return this.#signIn(deviceId)
  }
}
