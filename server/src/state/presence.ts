// Which devices are online, since when and over which transport. Changes are buffered and written in batches: otherwise
// a fleet that reconnects would cost one commit per device. Readers call settle() first, so they never see stale data.

import type { SteadyInstant, WallInstant } from '../domain/common/instants.ts'
import type { LeftDevice } from '../domain/common/ports/nodes.ts'
import type { Store } from '../domain/common/ports/store.ts'
import type { DeviceKey } from '../domain/device/device-key.ts'
import { replaceChange } from '../domain/device/judge-presence.ts'
import { keyOf } from '../domain/device/ports/device-link.ts'
import type { PresenceChange, Transport } from '../domain/device/ports/presence.ts'
import { ByDevice } from './by-device.ts'

/** A device that polls over HTTP counts as online until it has been silent for this long. */
const httpSilenceMs = 60_000
/** For nodes without a bridge that defines its devices' silence. */
const defaultBridgeSilenceMs = 10 * 60_000
const changesPerWrite = 1000
/** Time for the other node to record the device as online; nodes write presence once a second. */
const moveGraceMs = 3000

/** A connection of a device. */
type PresentSession = {
  readonly device: DeviceKey
  readonly transport: Transport
  readonly lastSeenAt: number
}

/** A device without a connection. `silenceMs`: it is offline after this long without a request. */
type SeenDevice = {
  device: DeviceKey
  transport: 'http' | 'bridge'
  silenceMs: number
  seenAt: number
  seenClock: number
  /** The bridge it was seen over; undefined: none, or it was seen by another node. */
  bridgeName?: string | undefined
}

type PresenceDeps = {
  store: Pick<Store, 'recordPresence' | 'setAllOffline'>
  /** For hawkBit devices, which sleep longer between polls; undefined: DDI is disabled. */
  ddiSilenceMs?: number | undefined
  /** The longest silence of all bridges; undefined: there are no bridges. */
  bridgeSilenceMs?: number | undefined
  now: () => number
  /** Monotonic milliseconds. */
  elapsed: () => number
}

export class Presence {
  readonly #deps: PresenceDeps
  #changes = new ByDevice<PresenceChange>()
  #writing: Promise<void> = Promise.resolve()
  /** Set until the devices left online by an earlier process are recorded as offline since then. */
  #startedAt: WallInstant | undefined
  #bridgeSilenceMs: number
  readonly #connected = new ByDevice<PresentSession>()
  /** Devices without a connection: they poll over HTTP, or send over a broker. */
  readonly #byHttp = new ByDevice<SeenDevice>()

  constructor(deps: PresenceDeps) {
    this.#deps = deps
    this.#bridgeSilenceMs = deps.bridgeSilenceMs ?? defaultBridgeSilenceMs
  }

  get connected(): number {
    return this.#connected.size
  }

  /** Number of devices online on this node, for metrics. */
  byTransport(): { labels: { transport: Transport }; value: number }[] {
    const counts = new Map<Transport, number>([
      ['mqtt', 0],
      ['websocket', 0],
      ['http', 0],
      ['bridge', 0],
    ])
    for (const { transport } of this.#byHttp.values()) counts.set(transport, (counts.get(transport) ?? 0) + 1)
    for (const { transport } of this.#connected.values())
      counts.set(transport, (counts.get(transport) ?? 0) + 1)
    return [...counts].map(([transport, value]) => ({ labels: { transport }, value }))
  }

  /** Devices stored as online were connected to an earlier process. They are recorded as offline before any other change. */
  startOffline(): void {
    this.#startedAt = this.#deps.now()
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

  /** The device has connected to another node: its earlier HTTP requests here no longer keep it online. */
  connectedElsewhere(device: DeviceKey): void {
    this.#byHttp.delete(device)
  }

  /** As above, for a session. Unless the other node records the device as online, it is offline from now on. */
  movedElsewhere({ device, transport }: PresentSession, since: SteadyInstant): void {
    if (!this.#connected.delete(device)) return
    const at = this.#deps.now()
    const isBack = () => this.#connected.get(device) !== undefined
    setTimeout(() => isBack() || this.#change(device, false, transport, at, since), moveGraceMs).unref()
  }

  seenByHttp(device: DeviceKey): void {
    this.#seen(device, 'http', httpSilenceMs)
  }

  seenByDdi(device: DeviceKey): void {
    this.#seen(device, 'http', this.#longestHttpSilenceMs)
  }

  get #longestHttpSilenceMs(): number {
    return Math.max(httpSilenceMs, this.#deps.ddiSilenceMs ?? 0)
  }

  /** The device has sent a message over an external broker. */
  seenByBridge(device: DeviceKey, silenceMs: number, bridgeName: string): void {
    this.#bridgeSilenceMs = Math.max(this.#bridgeSilenceMs, silenceMs)
    this.#seen(device, 'bridge', silenceMs, bridgeName)
  }

  /** Number of devices online over this bridge. */
  countByBridge(bridgeName: string): number {
    let count = 0
    for (const seen of this.#byHttp.values()) if (seen.bridgeName === bridgeName) count++
    return count
  }

  #seen(device: DeviceKey, transport: SeenDevice['transport'], silenceMs: number, bridgeName?: string): void {
    if (this.#connected.get(device)) return
    const existing = this.#byHttp.get(device)
    const seenAt = this.#deps.now()
    const seenClock = this.#deps.elapsed()
    const seen = { transport, silenceMs, seenAt, seenClock, bridgeName }
    if (existing?.transport === transport) Object.assign(existing, seen)
    else {
      this.#byHttp.set(device, { device: keyOf(device), ...seen })
      this.#change(device, true, transport, seenAt, null)
    }
  }

  /**
   * These devices polled a node that is now dead: they count as silent since then, unless they poll this node. Which API they
   * polled, or over which bridge they were seen, is not recorded, so the longest silence applies.
   */
  adoptByHttp(devices: LeftDevice[]): void {
    const { now, elapsed } = this.#deps
    for (const { lastSeenAt: seenAt, transport: before, ...device } of devices) {
      const transport = before === 'bridge' ? before : 'http'
      const silenceMs = transport === 'http' ? this.#longestHttpSilenceMs : this.#bridgeSilenceMs
      if (this.#connected.get(device) || this.#byHttp.get(device)) continue
      const seenClock = elapsed() - Math.max(0, now() - seenAt)
      this.#byHttp.set(device, { device, transport, silenceMs, seenAt, seenClock })
    }
  }

  /** The device was deleted or its credential is void: its earlier HTTP requests no longer keep it online. */
  disconnectHttp(device: DeviceKey): void {
    const seen = this.#byHttp.get(device)
    if (seen === undefined) return
    this.#byHttp.delete(device)
    this.#change(device, false, seen.transport, this.#deps.now(), null)
  }

  /** Undefined if the device is not online here. */
  lastSeenAt(device: DeviceKey): number | undefined {
    return this.#connected.get(device)?.lastSeenAt ?? this.#byHttp.get(device)?.seenAt
  }

  /** A device that polled over HTTP and fell silent is offline since it was last seen. */
  noticeSilence(): void {
    const elapsed = this.#deps.elapsed()
    for (const { device, transport, silenceMs, seenAt, seenClock } of this.#byHttp.values()) {
      if (seenClock > elapsed - silenceMs) continue
      this.#byHttp.delete(device)
      this.#change(device, false, transport, seenAt, null)
    }
  }

  /** Records all HTTP devices as online again, after the other nodes removed this node. */
  announceHttp(): void {
    for (const { device } of this.#byHttp.values()) this.announceByHttp(device)
  }

  announceByHttp(device: DeviceKey): void {
    const polling = this.#byHttp.get(device)
    if (polling) this.#change(device, true, polling.transport, polling.seenAt, null)
  }

  /** Devices seen during the last `ms`, and when. */
  seenWithin(ms: number): (DeviceKey & { at: number })[] {
    const fromClock = this.#deps.elapsed() - ms
    const from = this.#deps.now() - ms
    const connected = this.#connected.values().filter(({ lastSeenAt }) => lastSeenAt >= from)
    const byHttp = this.#byHttp.values().filter(({ seenClock }) => seenClock >= fromClock)
    return [
      ...connected.map(({ device, lastSeenAt: at }) => ({ ...keyOf(device), at })),
      ...byHttp.map(({ device, seenAt: at }) => ({ ...keyOf(device), at })),
    ]
  }

  /** Resolves when all earlier changes are on disk. */
  settle(): Promise<void> {
    const isPending = this.#changes.size > 0 || this.#startedAt !== undefined
    if (isPending) this.#writing = this.#writing.catch(() => undefined).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    if (this.#startedAt !== undefined) {
      await this.#deps.store.setAllOffline({ at: this.#startedAt })
      this.#startedAt = undefined
    }
    const changes = this.#changes.values()
    this.#changes = new ByDevice()
    for (let start = 0; start < changes.length; start += changesPerWrite) {
      try {
        await this.#deps.store.recordPresence(changes.slice(start, start + changesPerWrite))
      } catch (error) {
        // Kept for the next write, unless a newer change replaces it.
        for (const change of changes.slice(start)) {
          const newer = this.#changes.get(change)
          this.#changes.set(change, newer ? replaceChange(change, newer) : change)
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
    const change = { ...keyOf(device), online, transport, at, session }
    this.#changes.set(device, replaceChange(this.#changes.get(device), change))
  }
}
