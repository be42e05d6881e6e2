import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lazyPart } from '../../parts/lazy-part.tsx'

const RollbackDialog = lazyPart<{ run: Run; onClose: () => void }>(() => import('./rollback-dialog.tsx'))

/** Where there is a version before, and devices that have come to an end with this one. */
export function RollBackRun({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  const { version, counts } = run
  if (version < 2 || counts.SUCCEEDED + counts.FAILED === 0) return null
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        Roll back…
      </button>
      {isOpen && <RollbackDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}
