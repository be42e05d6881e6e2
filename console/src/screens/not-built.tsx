import { EmptyState } from '../parts/empty-state.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { path } from '../router.ts'

/** Stands in for a screen that is not there yet. */
export default function NotBuilt() {
  const [, name = ''] = path.value.split('/')
  return (
    <>
      <PageHeader title={name.charAt(0).toUpperCase() + name.slice(1)} />
      <EmptyState icon="jobs" title="This screen is not built yet">
        <p>
          The <a href="/docs">API</a> and the command line <code>jobcast</code> do all of it.
        </p>
      </EmptyState>
    </>
  )
}
