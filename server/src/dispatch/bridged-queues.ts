// Queues of devices on an external broker, for notices. The broker forwards whatever is published, so devices that are deleted or
// whose credential was revoked are filtered out here.

import type { CredentialChanges } from '../domain/access/sign-in.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'

type BridgedQueuesDeps = {
  store: Pick<Store, 'readQueues' | 'getDevice'>
  credentialChanges: CredentialChanges
}

/** For the devices of one owner. */
export class BridgedQueues {
  readonly #deps: BridgedQueuesDeps
  /** Cached until `forget`, which saves a query per notice. */
  readonly #admitted = new Set<string>()

  constructor(deps: BridgedQueuesDeps) {
    this.#deps = deps
  }

  /** Undefined also for devices that are not admitted. */
  async readQueues(
    wanted: Parameters<Store['readQueues']>[0],
  ): Promise<Awaited<ReturnType<Store['readQueues']>>> {
    const queues = await this.#deps.store.readQueues(wanted)
    const admitted = await Promise.all(
      wanted.map((device, index) => typeof queues[index] === 'object' && this.admits(device)),
    )
    return queues.map((queue, index) => (typeof queue !== 'object' || admitted[index] ? queue : undefined))
  }

  admits(device: DeviceKey): true | Promise<boolean> {
    return this.#admitted.has(device.deviceId) || this.#lookUp(device)
  }

  /** Call when the credential of the device may have been revoked. */
  forget(deviceId: string): void {
    this.#admitted.delete(deviceId)
  }

  /** A refusal is not cached: the device may be admitted later. */
  async #lookUp({ ownerNo, deviceId }: DeviceKey): Promise<boolean> {
    const { store, credentialChanges } = this.#deps
    for (;;) {
      const before = credentialChanges.count
      const device = await store.getDevice({ ownerNo, deviceId })
      if (credentialChanges.count !== before) continue
      const isAdmitted = device?.certificateRevokedAt === null
      if (isAdmitted) this.#admitted.add(deviceId)
      return isAdmitted
    }
  }
}
