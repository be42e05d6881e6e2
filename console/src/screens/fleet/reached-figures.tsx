// The figures for keys restricted to jobs or devices. The service counts the fleet only for all devices, so these numbers come from
// the count of a selector and from unfinished runs.

import type { ExecState } from '@jobcast/client'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { Figure } from './figure.tsx'

/** Lists are not updated by events when devices connect or disconnect. */
const agesMs = 30_000

export default function ReachedFigures() {
  const devices = useQuery({ ...queries.deviceCount('all'), refetchInterval: agesMs })
  const runs = useQuery(queries.unfinishedRuns())
  if (!devices.data || !runs.data) return <ErrorNote error={devices.error ?? runs.error} />
  const { items, nextCursor } = runs.data
  const sum = (...states: ExecState[]) =>
    items.reduce((total, { counts }) => total + states.reduce((each, state) => each + counts[state], 0), 0)
  const { total, online } = devices.data
  const about = nextCursor === null ? undefined : `in the newest ${formatCount(items.length)} unfinished runs`
  return (
    <section class="figures" aria-label="Figures">
      <Figure
        title="Running"
        value={sum('IN_PROGRESS', 'CANCELING')}
        href="/executions?execState=IN_PROGRESS,CANCELING"
        about={about}
      />
      <Figure title="Waiting" value={sum('PENDING')} href="/executions?execState=PENDING" about={about} />
      <Figure
        title="Devices online"
        value={online}
        href="/devices?online=true"
        about={`of ${formatCount(total)}`}
      />
    </section>
  )
}
