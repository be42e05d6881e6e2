// The occurrences that this process is firing at the moment. Each is recorded in the store before its run is created, and
// any node that finds the record continues it; this process skips the ones that it is still working on.

import type { StartedOccurrence, StoredSchedule } from './ports/schedules.ts'

export type OccurrenceInFlight = { scheduleNo: number; for: number; ended: Promise<void> }

export type InFlightDeps = { occurrencesInFlight: Set<OccurrenceInFlight> }

/** Marks the occurrence as in flight while `work` runs: start before it is recorded. */
export async function whileInFlight<Result>(
  { occurrencesInFlight }: InFlightDeps,
  { scheduleNo }: Pick<StoredSchedule, 'scheduleNo'>,
  occurrence: Pick<StartedOccurrence, 'for'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const mine = { scheduleNo, for: occurrence.for, ended }
  occurrencesInFlight.add(mine)
  try {
    return await work()
  } finally {
    occurrencesInFlight.delete(mine)
    resolve()
  }
}

/** Resolves when the work has ended; undefined: it is not in flight in this process. */
export function endOf(
  { occurrencesInFlight }: InFlightDeps,
  { scheduleNo }: Pick<StoredSchedule, 'scheduleNo'>,
  occurrence: Pick<StartedOccurrence, 'for'>,
): Promise<void> | undefined {
  for (const each of occurrencesInFlight)
    if (each.scheduleNo === scheduleNo && each.for === occurrence.for) return each.ended
  return undefined
}
