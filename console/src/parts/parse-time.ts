/** `launchedAt` alone comes without an offset, and means UTC. */
export function parseTime(text: string): number {
  return Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
}
