// Which devices are online, since when and by which door. Changes are gathered and written together: a fleet that
// comes back at once would else be as many commits. Whoever reads presence settles it first, so nobody sees it late.

import { ByDevice } from './by-device.ts'
import type { DeviceSession } from './device-link.ts'
import type { DeviceKey, Door, PresenceChange, Store } from './store.ts'

/** A device that asks by HTTP is online until it has been silent for so long. */
const httpSilenceMs = 60_000
const changesPerWrite = 1000
/** A node writes down who is online once a second. */
const movedMs = 3000

/** A connection of a device. */
export type PresentSession = Pick<DeviceSession, 'device' | 'door' | 'lastSeenAt' | 'sessionNo'>

type HttpDevice = { device: DeviceKey; seenAt: number; seenClock: number }

export type PresenceDeps = {
  store: Pick<Store, 'recordPresence'>
  now: () => number
  /** Milliseconds that never jump. */
  elapsed: () => number
}

export class Presence {
  readonly #deps: PresenceDeps
  #changes = new ByDevice<PresenceChange>()
  #writing: Promise<void> = Promise.resolve()
  readonly #connected = new ByDevice<PresentSession>()
  readonly #byHttp = new ByDevice<HttpDevice>()

  constructor(deps: PresenceDeps) {
    this.#deps = deps
  }

  get connected(): number {
    return this.#connected.size
  }

  connect(session: PresentSession): void {
    const { device, door, sessionNo } = session
    this.#connected.set(device, session)
    this.#byHttp.delete(device)
    this.#change(device, true, door, this.#deps.now(), sessionNo)
  }

  disconnect({ device, door, sessionNo }: PresentSession): void {
    if (this.#connected.delete(device)) this.#change(device, false, door, this.#deps.now(), sessionNo)
  }

  /** It has connected to another node: what it asked here before says nothing any more. */
  connectedElsewhere(device: DeviceKey): void {
    this.#byHttp.delete(device)
  }

  /** The same of a session. That node says that it is online; only if it does not, it is offline since now. */
  movedElsewhere({ device, door, sessionNo }: PresentSession): void {
    if (!this.#connected.delete(device)) return
    const at = this.#deps.now()
    const isBack = () => this.#connected.get(device) !== undefined
    setTimeout(() => isBack() || this.#change(device, false, door, at, sessionNo), movedMs).unref()
  }

  seenByHttp(device: DeviceKey): void {
    if (this.#connected.get(device)) return
    const known = this.#byHttp.get(device)
    const seenAt = this.#deps.now()
    const seenClock = this.#deps.elapsed()
    if (known) Object.assign(known, { seenAt, seenClock })
    else {
      this.#byHttp.set(device, { device, seenAt, seenClock })
      this.#change(device, true, 'http', seenAt, null)
    }
  }

  /** Its credential is void, or it is gone: what it asked before keeps it online no longer. */
  leaveByHttp(device: DeviceKey): void {
    if (this.#byHttp.delete(device)) this.#change(device, false, 'http', this.#deps.now(), null)
  }

  /** Of a device that is online. */
  lastSeenAt(device: DeviceKey): number | undefined {
    return this.#connected.get(device)?.lastSeenAt ?? this.#byHttp.get(device)?.seenAt
  }

  /** Who asked by HTTP and has been silent for long is offline since it was heard last. */
  noticeSilence(): void {
    const silentSince = this.#deps.elapsed() - httpSilenceMs
    for (const { device, seenAt, seenClock } of this.#byHttp.values()) {
      if (seenClock > silentSince) continue
      this.#byHttp.delete(device)
      this.#change(device, false, 'http', seenAt, null)
    }
  }

  /** Who asks by HTTP is said to be online once more: it was forgotten. */
  announceHttp(): void {
    for (const { device, seenAt } of this.#byHttp.values()) this.#change(device, true, 'http', seenAt, null)
  }

  /** Those that were heard from this instant on, and when. */
  seenFrom(instant: number): (DeviceKey & { at: number })[] {
    const all = [
      ...this.#connected.values().map(({ device, lastSeenAt }) => ({ device, at: lastSeenAt })),
      ...this.#byHttp.values().map(({ device, seenAt }) => ({ device, at: seenAt })),
    ]
    return all
      .filter(({ at }) => at >= instant)
      .map(({ device: { ownerNo, deviceId }, at }) => ({ ownerNo, deviceId, at }))
  }

  /** Resolves when everything that was noticed before is on disk. */
  settle(): Promise<void> {
    if (this.#changes.size > 0) this.#writing = this.#writing.catch(() => undefined).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const changes = this.#changes.values()
    this.#changes = new ByDevice()
    for (let start = 0; start < changes.length; start += changesPerWrite) {
      try {
        await this.#deps.store.recordPresence(changes.slice(start, start + changesPerWrite))
      } catch (error) {
        // Kept for the next time, unless something newer is known by now.
        for (const change of changes.slice(start)) {
          if (!this.#changes.get(change)) this.#changes.set(change, change)
        }
        throw error
      }
    }
  }

  #change(
    { ownerNo, deviceId }: DeviceKey,
    online: boolean,
    door: Door,
    at: number,
    session: number | null,
  ): void {
    this.#changes.set({ ownerNo, deviceId }, { ownerNo, deviceId, online, door, at, session })
  }
}
