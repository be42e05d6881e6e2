// The event stream: starts at a position in the log and continues while the caller listens. The log is polled, and a
// signal only wakes the reader, so a lost or duplicate signal neither loses nor repeats an event.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { jobFilterOf } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import type { EventFilter, StoredEvent } from './event.ts'
import { showInReach } from './events-in-reach.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import { hiddenNounsOf, requireVisible } from './visible-events.ts'

export type FollowEventsDeps = {
  store: Pick<Store, 'listEvents' | 'getEventBounds' | 'findEventBefore' | 'matchDevices' | 'countRunsWithin'>
  /** Signals new events, of any owner. */
  newEvents: ChangeSignal<'all'>
  /** Incremented when the database was failed over or restored, after which event ids may mean other events. */
  historyChanges: { count: number }
  stopping: AbortSignal
}

type EventQuery = {
  /** Start after this event; by default with new events only. */
  after: number | undefined
  /** Or start with the events from this instant on. */
  since: number | undefined
  filter: EventFilter
  callerGone: AbortSignal
  /** Whether the caller still has access; called before each page. */
  isValid: () => Promise<boolean>
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
  { after, since, filter: asked, callerGone, isValid }: EventQuery,
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
  { callerGone, isValid }: Pick<EventQuery, 'callerGone' | 'isValid'>,
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
      // Events were purged before they were sent, for example after a jump of the clock: resuming fails with J-306.
      if (page.purgedUpTo > after) return
      const events = await show(page.events)
      // Checked before each page, because a backlog may be long.
      if (!(await isValid())) return
      after = page.upTo
      if (events.length > 0 || performance.now() - sentAt >= heartbeatMs) {
        yield { events, upTo: after }
        sentAt = performance.now()
      }
      if (page.more) continue
      // The caller reconnects with its last id and gets an error if that event no longer exists.
      if (deps.historyChanges.count !== history) return
      await watch.nextChange(Math.max(1, sentAt + heartbeatMs - performance.now()), abort)
      await sleep(pollDelayMs)
    }
  } finally {
    watch.close()
  }
}
