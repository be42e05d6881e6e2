/** The trigger screen, with a choice made already. */
export function triggerHref(choice: {
  jobName?: string
  deviceIds?: Iterable<string>
  tag?: string
}): string {
  const { jobName, deviceIds = [], tag } = choice
  const query = new URLSearchParams()
  if (jobName !== undefined) query.set('jobName', jobName)
  if (tag !== undefined) query.set('tag', tag)
  for (const deviceId of deviceIds) query.append('deviceId', deviceId)
  return `/trigger?${query}`
}
