// The event stream: starts at a position in the log and continues while the caller listens. The log is polled, and a
// signal only wakes the reader, so a lost or duplicate signal neither loses nor repeats an event.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import { keyErrorOf } from '../access/access.ts'
import type { Caller } from '../access/caller.ts'
import { isSameRestriction, jobFilterOf } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import type { EventFilter, StoredEvent } from './event.ts'
import { showInReach } from './events-in-reach.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import { hiddenNounsOf, requireVisible } from './visible-events.ts'

export type FollowEventsDeps = {
  store: Pick<
    Store,
    'listEvents' | 'getEventBounds' | 'findEventBefore' | 'findApiKey' | 'matchDevices' | 'countRunsWithin'
  >
  /** Signals new events, of any owner. */
  newEvents: ChangeSignal<'all'>
  /** Counts how often the database turned out to be another one, in which event ids mean something else. */
  historyChanges: { count: number }
  stopping: AbortSignal
  now: () => number
}

type EventQuery = {
  /** Start after this event; by default with new events only. */
  after: number | undefined
  /** Or start with the events from this instant on. */
  since: number | undefined
  filter: EventFilter
  callerGone: AbortSignal
  /** Whether the caller still has its right to it: asked before each page. Default: whether its key is valid. */
  isValid?: () => Promise<boolean>
}

/** Covers the log up to `upTo`. Often empty: then it only reports the position of the stream. */
export type EventBatch = { events: StoredEvent[]; upTo: number }

const eventsPerRead = 500
/** Delay between two reads, so that on a busy fleet each listener costs ten reads a second. */
const pollDelayMs = 100
/** The caller gets at least one batch per interval, even if nothing happens. */
const heartbeatMs = 15_000

export async function followEvents(
  deps: FollowEventsDeps,
  caller: Caller,
  { after, since, filter: asked, callerGone, isValid = () => isKeyValid(deps, caller) }: EventQuery,
): Promise<AsyncGenerator<EventBatch>> {
  requireVisible(caller, asked.types ?? [])
  const filter = { ...asked, hiddenNouns: hiddenNounsOf(caller), ...jobFilterOf(caller) }
  const { newest, purgedUpTo } = await deps.store.getEventBounds({ ownerNo: caller.ownerNo })
  if (after !== undefined && after !== 0 && after < purgedUpTo) {
    throw new ApiError('J-306', { detail: `The events up to ${purgedUpTo} are no longer retained.` })
  }
  if (after !== undefined && after > newest) {
    throw new ApiError('J-306', { detail: `There is no event ${after}; the newest one is ${newest}.` })
  }
  const from =
    after ??
    (since === undefined ? newest : await deps.store.findEventBefore({ ownerNo: caller.ownerNo, at: since }))
  return readFrom(deps, caller, filter, Math.max(from, purgedUpTo), { callerGone, isValid })
}

async function* readFrom(
  deps: FollowEventsDeps,
  caller: Caller,
  filter: EventFilter,
  from: number,
  { callerGone, isValid }: Required<Pick<EventQuery, 'callerGone' | 'isValid'>>,
): AsyncGenerator<EventBatch> {
  const abort = AbortSignal.any([callerGone, deps.stopping])
  const watch = deps.newEvents.openWatch('all')
  const history = deps.historyChanges.count
  const show = showInReach(deps, caller, filter)
  try {
    yield { events: [], upTo: from }
    let sentAt = performance.now()
    for (let after = from; !abort.aborted; ) {
      const page = await deps.store.listEvents({
        ownerNo: caller.ownerNo,
        filter,
        slice: { after, limit: eventsPerRead },
      })
      // Purged before they were sent, as after a jump of the clock: whoever resumes is told so (J-306).
      if (page.purgedUpTo > after) return
      const events = await show(page.events)
      // Before each page: a backlog may be long.
      if (!(await isValid())) return
      after = page.upTo
      if (events.length > 0 || performance.now() - sentAt >= heartbeatMs) {
        yield { events, upTo: after }
        sentAt = performance.now()
      }
      if (page.more) continue
      // The caller comes back with the last id it has; if there is no such event any more, it is told so.
      if (deps.historyChanges.count !== history) return
      await watch.nextChange(Math.max(1, sentAt + heartbeatMs - performance.now()), abort)
      await sleep(pollDelayMs)
    }
  } finally {
    watch.close()
  }
}

/** The stream also ends when its key is revoked or expires, or is restricted otherwise. */
async function isKeyValid(
  { store, now }: FollowEventsDeps,
  { keyId, restriction }: Caller,
): Promise<boolean> {
  const key = await store.findApiKey({ keyId })
  if (key === undefined || keyErrorOf(key, now()) !== undefined) return false
  return isSameRestriction(key.restriction, restriction ?? null)
}
