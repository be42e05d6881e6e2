// The first steps, shown for a fleet without devices.

import { EmptyState } from '../../parts/empty-state.tsx'
import { useScopes } from '../../scopes.ts'

export default function NoDevices() {
  const { can } = useScopes()
  return (
    <section class="panel" aria-label="Devices">
      <EmptyState icon="devices" title="No devices yet">
        {can('MANAGE') ? (
          <>
            <ol class="first-steps">
              <li>
                <a href="/jobs?new">Create a job</a>: what devices can be asked to do.
              </li>
              <li>
                <a href="/devices">Add a device</a>, or let devices{' '}
                <a href="/enrollments">enroll themselves</a>.
              </li>
              <li>
                <a href="/trigger">Trigger the job</a> on the device.
              </li>
            </ol>
            <p>
              To explore first, <code>npx --no-install jobcast sim</code> simulates a fleet.
            </p>
          </>
        ) : (
          <p>A key with the MANAGE scope can add some.</p>
        )}
      </EmptyState>
    </section>
  )
}
