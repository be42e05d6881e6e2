// The quota of output that the devices of an owner send in a day.

export type DailyOutput = {
  /** Counts so many bytes more; false if they are beyond the quota, and not counted. */
  take(ownerNo: number, bytes: number): boolean
}
