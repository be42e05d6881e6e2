// When a pending execution expires: its time limits run only while it may be offered.

import { deviceZone } from '@jobcast/contract'
import type { BothClocks, WallInstant } from '../common/instants.ts'
import type { Store } from '../common/ports/store.ts'
import type { StoredFreeze } from '../rollout/ports/rollouts.ts'
import { currentWindows, type Holder, OfferHistory } from '../window/offer-history.ts'
import { offeredFor } from '../window/offered-for.ts'
import { WindowTimes } from '../window/window-times.ts'
import { dueAt, type HeldClock, heldClockOf, ownExpiry, type TimeLimits } from './held-clocks.ts'

type LimitsKey = { ownerNo: number; jobExecutionId: number }

/** Null: never, or unknown. In the past if its timer is late. */
export async function readExpiry(
  store: Pick<Store, 'getTimeLimits' | 'getWindow'>,
  key: LimitsKey,
  freeze: StoredFreeze | undefined,
  now: BothClocks,
): Promise<WallInstant | null> {
  const limits = await store.getTimeLimits(key)
  if (limits === undefined) return null
  const times = await readTimes(store, limits.holder)
  const ends = clocksOf(limits).map((clock) => endOf(clock, limits, times, freeze, now))
  const known = ends.flatMap((end) => end ?? [])
  return known.length === 0 ? null : Math.min(...known)
}

function clocksOf({ life, policy, countsFrom, holder }: TimeLimits): HeldClock[] {
  const rules = { timeoutSeconds: null, retry: null, ...policy }
  const isFirst = life.attempt === 1 && life.dueAt === null
  // While an execution is delayed, its expiry clock has not started.
  const expiry = isFirst
    ? heldClockOf('expire', life, rules, countsFrom, holder)
    : life.notBefore === null
      ? ownExpiry(life, rules, holder)
      : undefined
  const deadline = heldClockOf('miss-deadline', life, rules, countsFrom, holder)
  return [expiry, deadline].flatMap((clock) => clock ?? [])
}

function endOf(
  clock: HeldClock,
  { changes }: TimeLimits,
  times: WindowTimes[],
  freeze: StoredFreeze | undefined,
  { at, clock: now }: BothClocks,
): WallInstant | undefined {
  const left = dueAt(clock, new OfferHistory(changes), now) - now
  // Its timer is late.
  if (left < 0) return at + left
  if (freeze && freeze.until === null) return undefined
  return offeredFor(times, left, Math.max(at, freeze?.until ?? at))
}

async function readTimes(
  store: Pick<Store, 'getWindow'>,
  holder: Holder | undefined,
): Promise<WindowTimes[]> {
  const { ownerNo = 0, zone = '' } = holder ?? {}
  const windows = holder ? currentWindows(holder) : []
  const found = await Promise.all(windows.map((windowName) => store.getWindow({ ownerNo, windowName })))
  return found.flatMap((window) =>
    window ? [new WindowTimes(window, window.timeZone === deviceZone ? zone : window.timeZone)] : [],
  )
}
