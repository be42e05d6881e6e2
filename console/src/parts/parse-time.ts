/** Only `launchedAt` has no offset; it is in UTC. */
export function parseTime(text: string): number {
  return Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`)
}
