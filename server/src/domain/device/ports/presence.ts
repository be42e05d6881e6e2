import type { SteadyInstant } from '../../common/instants.ts'
import type { DeviceKey } from '../device-key.ts'

/** How a device is connected, or was last. */
export type Transport = 'mqtt' | 'websocket' | 'http' | 'bridge'

export type StoredPresence = {
  online: boolean
  /** Since when it has been online or offline; null if it never was online. */
  since: number | null
  lastSeenAt: number | null
  transport: Transport | null
}

/**
 * `session`: when the connection was opened; null without a connection (HTTP, or a broker of the user). `endedSession`, only
 * without a connection: an earlier session whose end is not recorded yet.
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
  /**
   * Marks all devices as offline: called at startup, or as soon after it as the database can be written, because the
   * connections of the previous process are gone. In a cluster, `removeDeadNodes` does this.
   */
  setAllOffline(change: { at: number }): Promise<void>
}
