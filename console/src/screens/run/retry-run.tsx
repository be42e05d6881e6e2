import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { lazyPart } from '../../parts/lazy-part.tsx'

const RetryDialog = lazyPart<{ run: Run; onClose: () => void }>(() => import('./retry-dialog.tsx'))

/** While a rollout is paused its button to resume is the one to press. */
export function RetryRun({ run }: { run: Run }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        class={run.rollout?.state === 'PAUSED' ? '' : 'primary'}
        onClick={() => setOpen(true)}
      >
        Retry…
      </button>
      {isOpen && <RetryDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}
