/** A link to the trigger screen with a selection. */
export function triggerHref(choice: {
  jobName?: string
  deviceIds?: Iterable<string>
  tag?: string
  /** A selector. */
  where?: string
}): string {
  const { jobName, deviceIds = [], tag, where } = choice
  const query = new URLSearchParams()
  if (jobName !== undefined) query.set('jobName', jobName)
  if (tag !== undefined) query.set('tag', tag)
  if (where !== undefined) query.set('where', where)
  for (const deviceId of deviceIds) query.append('deviceId', deviceId)
  return `/trigger?${query}`
}
