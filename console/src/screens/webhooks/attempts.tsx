import type { Delivery } from '@jobcast/client'
import { Dialog } from '../../parts/dialog.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { formatTime, parseTime } from '../../parts/time.ts'

type Props = { delivery: Delivery; onReplay: (() => Promise<void>) | undefined; onClose: () => void }

/** The last 20 of them, newest first. */
export function Attempts({ delivery, onReplay, onClose }: Props) {
  const { eventId, type, state, attempts, nextAttemptAt } = delivery
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
      {attempts.length === 0 && <p class="quiet">It was not tried yet.</p>}
      {onReplay && state !== 'PENDING' && (
        <footer>
          <button type="button" onClick={onReplay}>
            Send it again
          </button>
        </footer>
      )}
    </Dialog>
  )
}
