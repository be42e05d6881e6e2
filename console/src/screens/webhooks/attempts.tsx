import type { Delivery } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { formatDuration, formatTime, now, parseTime } from '../../parts/time.ts'

type Props = { delivery: Delivery; onReplay: (() => Promise<void>) | undefined; onClose: () => void }

/** The last 20 attempts, newest first. */
export function Attempts({ delivery, onReplay, onClose }: Props) {
  const { eventId, type, state, attempts, nextAttemptAt } = delivery
  return (
    <Dialog title={`${type} #${eventId}`} onClose={onClose}>
      {nextAttemptAt !== null && (
        <p>
          {parseTime(nextAttemptAt) > now.value ? (
            <>
              Next attempt <RelativeTime at={nextAttemptAt} isAhead />.
            </>
          ) : (
            'Next attempt is due.'
          )}
        </p>
      )}
      <ol class="attempts">
        {attempts.toReversed().map(({ at, status, error, ms }) => (
          <li key={at}>
            <time dateTime={at}>{formatTime(parseTime(at))}</time>
            <span class="quiet">{formatDuration(ms)}</span>
            <p class={error === null ? '' : 'is-failing'}>{error ?? `delivered, status ${status}`}</p>
          </li>
        ))}
      </ol>
      {attempts.length === 0 && <p class="quiet">Not sent yet.</p>}
      <Body eventId={eventId} />
      {onReplay && state !== 'PENDING' && (
        <footer>
          <button type="button" onClick={onReplay}>
            Resend
          </button>
        </footer>
      )}
    </Dialog>
  )
}

/** The sent body, if the event is retained. */
function Body({ eventId }: { eventId: number }) {
  const { data } = useQuery(queries.event(eventId))
  return data ? <CodeBlock text={JSON.stringify(data, null, 2)} label="Body" /> : null
}
