// Notifies connected devices when a window opens: those with executions waiting under it, and those with the window as their own
// or their group's. Takes at most half of the time, so that a window of very many devices does not slow down other work.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Sliced } from '../domain/common/ports/slices.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import type { OpenedWindow } from '../state/open-windows.ts'

type WindowWakerDeps = {
  store: Pick<Store, 'listWindowRuns' | 'listWaitingDevices' | 'listWindowDevices'>
  /** Devices connected here: every node notifies its own. */
  dispatcher: {
    wake(devices: Iterable<DeviceKey>): void
    quiet(): Promise<void>
    readonly hasListeners: boolean
  }
  elapsed: () => number
  stopping: AbortSignal
  onFailure: (error: unknown) => void
}

/** Execution ids covered by one read, and devices notified in one batch. */
const executionsAtOnce = 1000
const devicesAtOnce = 250

export class WindowWaker {
  readonly #deps: WindowWakerDeps
  #waking: Promise<void> = Promise.resolve()

  constructor(deps: WindowWakerDeps) {
    this.#deps = deps
  }

  /** One window after the other. */
  wake(opened: OpenedWindow[]): void {
    for (const each of opened) {
      this.#waking = this.#waking.then(() => this.#wakeUnder(each)).catch(this.#deps.onFailure)
    }
  }

  /** Resolves when all devices were notified. */
  quiet(): Promise<void> {
    return this.#waking
  }

  async #wakeUnder({ ownerNo, windowName, zones }: OpenedWindow): Promise<void> {
    const { store, dispatcher, stopping } = this.#deps
    if (!dispatcher.hasListeners) return
    for (const run of await store.listWindowRuns({ ownerNo, windowName })) {
      for (let first = run.first; first <= run.last; first += executionsAtOnce) {
        if (stopping.aborted) return
        const last = Math.min(run.last, first + executionsAtOnce - 1)
        await this.#wakeSome(await store.listWaitingDevices({ first, last, zones }))
      }
    }
    for (let after: number | undefined = 0; after !== undefined; ) {
      if (stopping.aborted) return
      const list = { ownerNo, windowName, zones, after, limit: executionsAtOnce }
      const { items, next }: Sliced<DeviceKey, number> = await store.listWindowDevices(list)
      await this.#wakeSome(items)
      after = next
    }
  }

  async #wakeSome(devices: DeviceKey[]): Promise<void> {
    const { dispatcher, elapsed, stopping } = this.#deps
    for (let start = 0; start < devices.length; start += devicesAtOnce) {
      const begin = elapsed()
      dispatcher.wake(devices.slice(start, start + devicesAtOnce))
      await dispatcher.quiet()
      await sleep(elapsed() - begin, undefined, { signal: stopping, ref: false }).catch(() => undefined)
    }
  }
}
