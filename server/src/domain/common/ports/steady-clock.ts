import type { BothClocks } from '../instants.ts'

export type SteadyClockStore = {
  /** As last recorded; both are 0 in a new database. */
  getSteadyClock(): Promise<BothClocks>
  recordSteadyClock(both: BothClocks): Promise<void>
}
