import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { reachedStates } from '../../api/queries.ts'
import { lazyPart } from '../../parts/lazy-part.tsx'

const RollbackDialog = lazyPart<{ run: Run; onClose: () => void }>(() => import('./rollback-dialog.tsx'))

/** Shown if there is an earlier version, and devices have begun with this one. */
export function RollBackRun({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  const { version, counts } = run
  if (version < 2 || reachedStates.every((state) => counts[state] === 0)) return null
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        Roll back…
      </button>
      {isOpen && <RollbackDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}
