// How simulated devices behave.

/** Both ends may occur. */
export type Range = { from: number; to: number }

export type Pattern = {
  /** How long it works on an execution. */
  workSeconds: Range
  /** Shares of executions, from 0 to 1, that end in this state; the rest succeed. */
  failureRate: number
  rejectRate: number
  /** The share of its time that a device is offline: 0 is never, 1 is always. */
  offlineRate: number
  /** How long it is offline each time. */
  offlineSeconds: Range
  /** Lines of output per execution. */
  outputLines: number
}

/** Always online, and everything succeeds. */
export const calmPattern: Pattern = {
  workSeconds: { from: 1, to: 5 },
  failureRate: 0,
  rejectRate: 0,
  offlineRate: 0,
  offlineSeconds: { from: 30, to: 120 },
  outputLines: 3,
}
