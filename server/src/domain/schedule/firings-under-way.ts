// What this process is firing at the moment. It is noted in the store before its run is made, and whoever finds the note
// goes on with it: this process does so only with what it no longer works on.

import type { Firing, StoredSchedule } from './ports/schedules.ts'

export type UnderWay = { scheduleNo: number; for: number; ended: Promise<void> }

export type UnderWayDeps = { firingsUnderWay: Set<UnderWay> }

/** From before it is noted until it has ended, in whatever way. */
export async function whileUnderWay<Result>(
  { firingsUnderWay }: UnderWayDeps,
  { scheduleNo }: Pick<StoredSchedule, 'scheduleNo'>,
  firing: Pick<Firing, 'for'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const mine = { scheduleNo, for: firing.for, ended }
  firingsUnderWay.add(mine)
  try {
    return await work()
  } finally {
    firingsUnderWay.delete(mine)
    resolve()
  }
}

/** Resolves when it has ended; undefined: this process is not at it. */
export function endOf(
  { firingsUnderWay }: UnderWayDeps,
  { scheduleNo }: Pick<StoredSchedule, 'scheduleNo'>,
  firing: Pick<Firing, 'for'>,
): Promise<void> | undefined {
  for (const each of firingsUnderWay)
    if (each.scheduleNo === scheduleNo && each.for === firing.for) return each.ended
  return undefined
}
