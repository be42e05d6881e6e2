// How long hawkBit devices sleep between two polls, and when one that stopped polling counts as offline.

const busySleepSeconds = 30
/** A single late or lost poll does not make a device offline. */
const missedPolls = 2
const slackMs = 60_000

/** `isBusy`: something is offered to the device or held back from it. */
export function sleepSeconds(pollSeconds: number, isBusy: boolean): number {
  return isBusy ? Math.min(pollSeconds, busySleepSeconds) : pollSeconds
}

/** Undefined if DDI is disabled. */
export function ddiSilenceMs(pollSeconds: number | undefined): number | undefined {
  return pollSeconds === undefined ? undefined : missedPolls * pollSeconds * 1000 + slackMs
}
