// Whether changes are shown live, and if not, since when the page is out of date.

import { connection, lostAt } from '../live/live-events.ts'
import { useScopes } from '../scopes.ts'
import { formatClock } from './time.ts'

const connectionWords = { connecting: 'connecting', live: 'live', reconnecting: 'reconnecting' }

export function ConnectionState() {
  const { can } = useScopes()
  if (!can('READ')) return null // events require READ
  return (
    <span class={`connection ${connection.value}`} role="status">
      {connectionWords[connection.value]}
      {lostAt.value !== undefined && `, as of ${formatClock(lostAt.value)}`}
    </span>
  )
}
