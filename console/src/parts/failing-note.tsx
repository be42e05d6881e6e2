// Shown on the page of a run or a schedule if the service cannot continue it and retries.

import type { Schedule } from '@jobcast/client'
import { Icon } from './icon.tsx'
import { RelativeTime } from './relative-time.tsx'

export default function FailingNote({ failing }: { failing: NonNullable<Schedule['failing']> }) {
  return (
    <p role="alert">
      <Icon name="warning" /> <strong>Cannot continue:</strong> {failing.times} tries have failed, the first
      one <RelativeTime at={failing.since} />. {failing.message}
    </p>
  )
}
