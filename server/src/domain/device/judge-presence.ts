// Decides which presence changes apply: those from several nodes may arrive out of order.

import type { SteadyInstant } from '../common/instants.ts'
import type { PresenceChange, StoredPresence } from './ports/presence.ts'

/** `session`: when the device's latest session was opened; `nodeNo`: where it is, or was last, online. */
type PresenceRecord = StoredPresence & { session: SteadyInstant | null; nodeNo: number | null }

/** When and on which node a session was opened. */
export type SessionBegin = { since: SteadyInstant; nodeNo: number }

/** One device may connect to two nodes within a millisecond: then the node with the higher number has the newer session. */
export function isNewerSession(one: SessionBegin, other: SessionBegin): boolean {
  if (one.since !== other.since) return one.since > other.since
  return one.nodeNo > other.nodeNo
}

/** `seen`: changes only lastSeenAt. */
type PresenceVerdict = 'holds' | 'seen' | 'ignored'

export function hasSession({ online, transport }: Pick<PresenceRecord, 'online' | 'transport'>): boolean {
  return online && transport !== 'http' && transport !== 'bridge'
}

/** `nodeNo`: the node that reports the change. */
export function judgePresence(
  known: PresenceRecord,
  change: PresenceChange,
  nodeNo: number,
): PresenceVerdict {
  const { online, session, endedSession, at } = change
  const isOlder = (since: SteadyInstant) => isKnownNewer(known, since, nodeNo)
  if (session === null) {
    // The device polls over HTTP. If it is also connected, the connection decides.
    const isConnected = hasSession(known) && (endedSession === undefined || isOlder(endedSession))
    if (isConnected) return online ? 'seen' : 'ignored'
    if (online) return known.online && !hasSession(known) ? 'seen' : 'holds'
    // Another node may have seen it since.
    return endedSession === undefined && (known.lastSeenAt ?? 0) > at ? 'ignored' : 'holds'
  }
  if (isOlder(session)) return 'ignored'
  // The session has ended, but the device may still be polling over HTTP.
  return online || hasSession(known) ? 'holds' : 'ignored'
}

function isKnownNewer(known: PresenceRecord, since: SteadyInstant, nodeNo: number): boolean {
  if (known.session === null) return false
  // Where a session has ended, the number may be that of a node which the device polls.
  const knownNode = hasSession(known) && known.nodeNo !== null ? known.nodeNo : nodeNo
  return isNewerSession({ since: known.session, nodeNo: knownNode }, { since, nodeNo })
}

/**
 * Merges a change into one that is not recorded yet. The end of a session must not get lost, or the device would stay online
 * for as long as its record has the session.
 */
export function replaceChange(before: PresenceChange | undefined, change: PresenceChange): PresenceChange {
  if (before === undefined || change.session !== null) return change
  const endedSession = before.session !== null && !before.online ? before.session : before.endedSession
  return { ...change, endedSession }
}
