// Converts changes of presence to spans: online, offline, or no data.

import type { PresenceChange } from './use-device-log.ts'

export type Span = { from: number; to: number; online: boolean | undefined }

type Now = { online: boolean; since: number | undefined; createdAt: number }

/**
 * The spans from `from` to `to`. Before its first change the device had the opposite state; before its creation there is no
 * data. The current state takes precedence over the log, which may be incomplete.
 */
export function spansOf(changes: readonly PresenceChange[], now: Now, from: number, to: number): Span[] {
  const changesAndNow = withNow(changes, now)
  const spans: Span[] = []
  const add = (span: Span) => {
    const cut = { ...span, from: Math.max(span.from, from), to: Math.min(span.to, to) }
    if (cut.to <= cut.from) return
    const last = spans.at(-1)
    if (last && last.online === cut.online) last.to = cut.to
    else spans.push(cut)
  }
  const first = changesAndNow[0]
  const begin = first?.at ?? to
  // A log that begins with the first connection covers the time since the device was created.
  const before = first === undefined ? false : first.isFromLog ? !first.online : undefined
  add({ from: Math.min(from, begin), to: Math.min(now.createdAt, begin), online: undefined })
  add({ from: Math.min(now.createdAt, begin), to: begin, online: before })
  for (const [index, change] of changesAndNow.entries()) {
    add({ from: change.at, to: changesAndNow[index + 1]?.at ?? to, online: change.online })
  }
  return spans
}

type Change = { at: number; online: boolean; isFromLog: boolean }

function withNow(changes: readonly PresenceChange[], { online, since }: Now): Change[] {
  const known = changes.map(({ at, online }) => ({ at, online, isFromLog: true }))
  const last = known.at(-1)
  if (since !== undefined && (last === undefined || (last.online !== online && since >= last.at))) {
    known.push({ at: since, online, isFromLog: false })
  }
  return known
}

export type Summary = { onlineShare: number | undefined; timesOffline: number; longestOfflineMs: number }

export function summaryOf(spans: readonly Span[]): Summary {
  const sum = (wanted: (span: Span) => boolean) =>
    spans.filter(wanted).reduce((total, { from, to }) => total + to - from, 0)
  const known = sum(({ online }) => online !== undefined)
  const away = spans.filter(({ online }) => online === false)
  return {
    onlineShare: known === 0 ? undefined : sum(({ online }) => online === true) / known,
    timesOffline: away.length,
    longestOfflineMs: Math.max(0, ...away.map(({ from, to }) => to - from)),
  }
}
