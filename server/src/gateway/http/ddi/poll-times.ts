// How long devices of hawkBit sleep between two polls, and after how long without one they are offline.

const busySleepSeconds = 30
/** A poll that is late, or lost, takes no device offline. */
const missedPolls = 2
const slackMs = 60_000

/** `isBusy`: something is offered to the device or held back from it. */
export function sleepSeconds(pollSeconds: number, isBusy: boolean): number {
  return isBusy ? Math.min(pollSeconds, busySleepSeconds) : pollSeconds
}

/** Undefined where no such device is served. */
export function ddiSilenceMs(pollSeconds: number | undefined): number | undefined {
  return pollSeconds === undefined ? undefined : missedPolls * pollSeconds * 1000 + slackMs
}
