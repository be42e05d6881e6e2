import type { Delivery } from '@jobcast/client'
import { Dialog } from '../../parts/dialog.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { formatTime, parseTime } from '../../parts/time.ts'

/** The last 20 of them, newest first. */
export function Attempts({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const { eventId, type, attempts, nextAttemptAt } = delivery
  return (
    <Dialog title={`${type} #${eventId}`} onClose={onClose}>
      {nextAttemptAt !== null && (
        <p>
          It is tried again <RelativeTime at={nextAttemptAt} isAhead />.
        </p>
      )}
      <ol class="attempts">
        {attempts.toReversed().map(({ at, status, error, ms }) => (
          <li key={at}>
            <time dateTime={at}>{formatTime(parseTime(at))}</time>
            <span class="quiet">{ms} ms</span>
            <p class={error === null ? '' : 'is-failing'}>{error ?? `accepted with ${status}`}</p>
          </li>
        ))}
      </ol>
    </Dialog>
  )
}
