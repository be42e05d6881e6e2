// On top of every screen while the fleet is frozen: why nothing moves.

import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { useScopes } from '../scopes.ts'
import { Icon } from './icon.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Elapsed, RelativeTime } from './relative-time.tsx'

/** It may end by itself. */
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
          Devices are offered nothing new
          {since !== null && (
            <>
              , for <Elapsed since={since} /> now
            </>
          )}
          {until !== null && (
            <>
              ; it ends <RelativeTime at={until} isAhead />
            </>
          )}
          . What runs goes on.
        </span>
      </p>
      {can('MANAGE') && <Unfreeze />}
    </section>
  )
}
