// Queues of devices on a broker, for notices. The broker hands on whatever is published, so here is looked up who may hear it: not
// a device whose credential was revoked, and not one that is gone.

import type { CredentialChanges } from '../domain/access/sign-in.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'

type BridgedQueuesDeps = {
  store: Pick<Store, 'readQueues' | 'getDevice'>
  credentialChanges: CredentialChanges
}

/** Of one owner. */
export class BridgedQueues {
  readonly #deps: BridgedQueuesDeps
  /** Until `forget`: each notice would be one more query otherwise. */
  readonly #admitted = new Set<string>()

  constructor(deps: BridgedQueuesDeps) {
    this.#deps = deps
  }

  /** Undefined also for those that may not hear of it. */
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
    return this.#admitted.has(device.deviceId) || this.#look(device)
  }

  /** Its credential may have been revoked. */
  forget(deviceId: string): void {
    this.#admitted.delete(deviceId)
  }

  /** Who is refused is looked up again the next time: it may have been allowed since. */
  async #look({ ownerNo, deviceId }: DeviceKey): Promise<boolean> {
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
