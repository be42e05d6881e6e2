import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lazyPart } from '../../parts/lazy-part.tsx'

const RetryDialog = lazyPart<{ run: Run; onClose: () => void }>(() => import('./retry-dialog.tsx'))

/** The primary action of a finished run; before, the rollout comes first. */
export function RetryRun({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class={run.finished ? 'primary' : ''} onClick={() => setOpen(true)}>
        Retry…
      </button>
      {isOpen && <RetryDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}
