/** Screens by the noun of a subject. */
const screens: Record<string, string> = {
  job: '/jobs/',
  run: '/runs/',
  execution: '/executions/',
  device: '/devices/',
  group: '/groups/',
  window: '/windows/',
  schedule: '/schedules/',
  webhook: '/webhooks/',
}

/** `job:restart` links to the job, which may have been deleted since. */
export function Subject({ subject }: { subject: string }) {
  const colon = subject.indexOf(':')
  const screen = colon === -1 ? undefined : screens[subject.slice(0, colon)]
  if (screen === undefined) return <bdi>{subject}</bdi>
  return (
    <a href={screen + encodeURIComponent(subject.slice(colon + 1))}>
      <bdi>{subject}</bdi>
    </a>
  )
}
