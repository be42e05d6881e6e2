// The stream of events: from a place in the log on, and for as long as somebody listens. The log is read again and
// again; a signal only says when that pays, so nothing is lost or told twice whatever happens to the signal.

import { setTimeout as rest } from 'node:timers/promises'
import { ApiError } from '@jobcast/contract'
import { type Caller, troubleOf } from './caller.ts'
import type { EventFilter, StoredEvent } from './event.ts'
import type { ChangeSignal } from './ports/change-signal.ts'
import type { Store } from './ports/store.ts'

export type FollowEventsDeps = {
  store: Pick<Store, 'listEvents' | 'getEventBounds' | 'findEventBefore' | 'findApiKey'>
  /** Told of when there are new events, whoever's. */
  newEvents: ChangeSignal<'all'>
  stopping: AbortSignal
  now: () => number
}

export type EventWish = {
  /** Begin behind this one; with what happens from now on unless said. */
  after: number | undefined
  /** Or with what happened from this instant on. */
  since: number | undefined
  filter: EventFilter
  callerGone: AbortSignal
}

/** All up to `upTo` is told with these; often none, then it only says how far the stream has come. */
export type ToldEvents = { events: StoredEvent[]; upTo: number }

const eventsPerLook = 500
/** Between two looks, so that a busy fleet costs each listener ten looks a second. */
const restMs = 100
/** Who listens hears from us at least so often, also when nothing happens. */
const beatMs = 15_000

export async function followEvents(
  deps: FollowEventsDeps,
  caller: Caller,
  { after, since, filter, callerGone }: EventWish,
): Promise<AsyncGenerator<ToldEvents>> {
  const { newest, forgotten } = await deps.store.getEventBounds({ ownerNo: caller.ownerNo })
  if (after !== undefined && after !== 0 && after < forgotten) {
    throw new ApiError('J-306', { detail: `The events up to ${forgotten} are no longer kept.` })
  }
  if (after !== undefined && after > newest) {
    throw new ApiError('J-306', { detail: `There is no event ${after}; the newest one is ${newest}.` })
  }
  const from =
    after ??
    (since === undefined ? newest : await deps.store.findEventBefore({ ownerNo: caller.ownerNo, at: since }))
  return told(deps, caller, filter, from, callerGone)
}

async function* told(
  deps: FollowEventsDeps,
  caller: Caller,
  filter: EventFilter,
  from: number,
  callerGone: AbortSignal,
): AsyncGenerator<ToldEvents> {
  const abort = AbortSignal.any([callerGone, deps.stopping])
  const watch = deps.newEvents.openWatch('all')
  try {
    yield { events: [], upTo: from }
    let saidAt = performance.now()
    for (let after = from; !abort.aborted; ) {
      const look = await deps.store.listEvents({
        ownerNo: caller.ownerNo,
        filter,
        slice: { after, limit: eventsPerLook },
      })
      after = look.upTo
      if (look.events.length > 0 || performance.now() - saidAt >= beatMs) {
        yield { events: look.events, upTo: after }
        saidAt = performance.now()
      }
      if (look.more) continue
      if (!(await isStillGood(deps, caller))) return
      await watch.nextChange(Math.max(1, saidAt + beatMs - performance.now()), abort)
      await rest(restMs)
    }
  } finally {
    watch.close()
  }
}

/** A key that was revoked or has expired hears no more. */
async function isStillGood({ store, now }: FollowEventsDeps, { keyId }: Caller): Promise<boolean> {
  const key = await store.findApiKey({ keyId })
  return key !== undefined && troubleOf(key, now()) === undefined
}
