// Presence changes from several nodes may arrive out of order: decides which of them apply.

import type { SteadyInstant } from './instants.ts'
import type { PresenceChange, StoredPresence } from './ports/presence.ts'

/** `session`: when the device's latest session was opened. */
export type PresenceRecord = StoredPresence & { session: SteadyInstant | null }

/** `seen`: changes only lastSeenAt. */
export type PresenceVerdict = 'holds' | 'seen' | 'ignored'

export function hasSession({ online, transport }: Pick<PresenceRecord, 'online' | 'transport'>): boolean {
  return online && transport !== 'http'
}

export function judgePresence(known: PresenceRecord, change: PresenceChange): PresenceVerdict {
  const { online, session, at } = change
  if (session === null) {
    // The device polls over HTTP. If it is also connected, the connection decides.
    if (hasSession(known)) return online ? 'seen' : 'ignored'
    if (online) return known.online ? 'seen' : 'holds'
    // Another node may have seen it since.
    return (known.lastSeenAt ?? 0) > at ? 'ignored' : 'holds'
  }
  const isOlder = known.session !== null && session < known.session
  if (isOlder) return 'ignored'
  // The session has ended, but the device may still be polling over HTTP.
  return online || hasSession(known) ? 'holds' : 'ignored'
}
