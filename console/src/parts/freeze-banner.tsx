// Shown on top of every screen while the fleet is frozen, with the reason.

import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { useScopes } from '../scopes.ts'
import { Icon } from './icon.tsx'
import { lazyPart } from './lazy-part.tsx'
import { RelativeTime } from './relative-time.tsx'

/** A freeze may end automatically. */
const pollMs = 60_000

const Unfreeze = lazyPart<object>(() => import('./unfreeze.tsx'))

export function FreezeBanner() {
  const { can } = useScopes()
  const { data } = useQuery({
    ...queries.freeze(),
    enabled: can('READ'),
    refetchInterval: pollMs,
    staleTime: pollMs,
  })
  if (!data?.frozen) return null
  const { reason, since, until } = data
  return (
    <section class="freeze-banner" aria-label="Freeze">
      <Icon name="warning" />
      <p>
        <strong>The fleet is frozen: {reason}</strong>{' '}
        <span>
          Nothing new is sent to devices; running executions continue.
          {since !== null && (
            <>
              {' '}
              Frozen <RelativeTime at={since} />
              {until !== null && (
                <>
                  , ends <RelativeTime at={until} isAhead />
                </>
              )}
              .
            </>
          )}
        </span>
      </p>
      {can('MANAGE') && <Unfreeze />}
    </section>
  )
}
