import type { SteadyInstant } from '../../common/instants.ts'
import type { DeviceKey } from '../device-key.ts'

/** How a device is, or was last, connected. */
export type Transport = 'mqtt' | 'websocket' | 'http' | 'bridge'

export type StoredPresence = {
  online: boolean
  /** Since when it is online or offline; null if it never was online. */
  since: number | null
  lastSeenAt: number | null
  transport: Transport | null
}

/**
 * `session`: since when the connection it tells of is open; null if it has none (HTTP, or a broker of the user). `endedSession`: of a device without
 * one, the session that ended before and whose end is not recorded.
 */
export type PresenceChange = DeviceKey & {
  online: boolean
  at: number
  transport: Transport
  session: SteadyInstant | null
  endedSession?: SteadyInstant | undefined
}

export type PresenceStore = {
  recordPresence(changes: PresenceChange[]): Promise<void>
  /** At start, or as soon after it as can be written: whoever was online when the process before ended is not any more. Where there are nodes, they see to it. */
  setAllOffline(change: { at: number }): Promise<void>
}
