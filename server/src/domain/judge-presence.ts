// What nodes report of a device may arrive in another order than it happened: which of it holds.

import type { SteadyInstant } from './instants.ts'
import type { PresenceChange, StoredPresence } from './ports/presence.ts'

/** `session`: since when the device's last session is, or was, open. */
export type KnownPresence = StoredPresence & { session: SteadyInstant | null }

/** `seen`: it changes nothing but when the device was heard last. */
export type PresenceVerdict = 'holds' | 'seen' | 'ignored'

export function hasSession({ online, transport }: Pick<KnownPresence, 'online' | 'transport'>): boolean {
  return online && transport !== 'http'
}

export function judgePresence(known: KnownPresence, change: PresenceChange): PresenceVerdict {
  const { online, session, at } = change
  if (session === null) {
    // It asks by HTTP. One that is connected as well is online by its connection.
    if (hasSession(known)) return online ? 'seen' : 'ignored'
    if (online) return known.online ? 'seen' : 'holds'
    // Another node may have heard it since.
    return (known.lastSeenAt ?? 0) > at ? 'ignored' : 'holds'
  }
  const isOlder = known.session !== null && session < known.session
  if (isOlder) return 'ignored'
  // By HTTP it may still be there; that session is over all the same.
  return online || hasSession(known) ? 'holds' : 'ignored'
}
