import { EmptyState } from '../../parts/empty-state.tsx'
import { useScopes } from '../../scopes.ts'

export function NoSchedules() {
  const { can } = useScopes()
  return (
    <EmptyState icon="schedules" title="No schedules yet">
      <p>
        A schedule triggers a job automatically: at certain times, or on every device that starts to match.{' '}
        {can('MANAGE') ? (
          <a href="/schedules?new">Create the first one</a>
        ) : (
          'A key with the MANAGE scope can create one.'
        )}
      </p>
    </EmptyState>
  )
}
