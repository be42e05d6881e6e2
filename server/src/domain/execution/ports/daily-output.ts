// The daily quota of output from an owner's devices.

export type DailyOutput = {
  /** Adds bytes; false if they exceed the quota, and then they are not counted. */
  take(ownerNo: number, bytes: number): boolean
}
