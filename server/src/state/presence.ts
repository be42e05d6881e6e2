// Which devices are online, since when and by which transport. Changes are gathered and written together: a fleet that
// comes back at once would else be as many commits. Whoever reads presence settles it first, so nobody sees it late.

import { keyOf } from '../domain/device-link.ts'
import type { SteadyInstant, WallInstant } from '../domain/instants.ts'
import type { LeftDevice } from '../domain/nodes.ts'
import type { DeviceKey } from '../domain/ports/devices.ts'
import type { PresenceChange, Transport } from '../domain/ports/presence.ts'
import type { Store } from '../domain/ports/store.ts'
import { ByDevice } from './by-device.ts'

/** A device that asks by HTTP is online until it has been silent for so long. */
const httpSilenceMs = 60_000
const changesPerWrite = 1000
/** A node writes down who is online once a second. */
const movedMs = 3000

/** A connection of a device. */
export type PresentSession = {
  readonly device: DeviceKey
  readonly transport: Transport
  readonly lastSeenAt: number
}

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

  connect(session: PresentSession, since: SteadyInstant): void {
    const { device, transport } = session
    this.#connected.set(device, session)
    this.#byHttp.delete(device)
    this.#change(device, true, transport, this.#deps.now(), since)
  }

  disconnect({ device, transport }: PresentSession, since: SteadyInstant): void {
    if (this.#connected.delete(device)) this.#change(device, false, transport, this.#deps.now(), since)
  }

  /** It has connected to another node: what it asked here before says nothing any more. */
  connectedElsewhere(device: DeviceKey): void {
    this.#byHttp.delete(device)
  }

  /** The same of a session. That node says that it is online; only if it does not, it is offline since now. */
  movedElsewhere({ device, transport }: PresentSession, since: SteadyInstant): void {
    if (!this.#connected.delete(device)) return
    const at = this.#deps.now()
    const isBack = () => this.#connected.get(device) !== undefined
    setTimeout(() => isBack() || this.#change(device, false, transport, at, since), movedMs).unref()
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

  /** Another node, which is gone, heard them last: from then on they have been silent, unless they ask here. */
  adoptByHttp(devices: LeftDevice[]): void {
    const { now, elapsed } = this.#deps
    for (const { lastSeenAt: seenAt, ...device } of devices) {
      if (this.#connected.get(device) || this.#byHttp.get(device)) continue
      const seenClock = elapsed() - Math.max(0, now() - seenAt)
      this.#byHttp.set(device, { device, seenAt, seenClock })
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
    for (const { device } of this.#byHttp.values()) this.announceByHttp(device)
  }

  announceByHttp(device: DeviceKey): void {
    const known = this.#byHttp.get(device)
    if (known) this.#change(device, true, 'http', known.seenAt, null)
  }

  /** Those that were heard during the last `ms`, and when. */
  heardWithin(ms: number): (DeviceKey & { at: number })[] {
    const fromClock = this.#deps.elapsed() - ms
    const from = this.#deps.now() - ms
    const connected = this.#connected.values().filter(({ lastSeenAt }) => lastSeenAt >= from)
    const byHttp = this.#byHttp.values().filter(({ seenClock }) => seenClock >= fromClock)
    return [
      ...connected.map(({ device, lastSeenAt: at }) => ({ ...keyOf(device), at })),
      ...byHttp.map(({ device, seenAt: at }) => ({ ...keyOf(device), at })),
    ]
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
    device: DeviceKey,
    online: boolean,
    transport: Transport,
    at: WallInstant,
    session: SteadyInstant | null,
  ): void {
    this.#changes.set(device, { ...keyOf(device), online, transport, at, session })
  }
}
