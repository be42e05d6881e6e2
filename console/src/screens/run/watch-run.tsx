import type { Run } from '@jobcast/client'
import { useAction } from '../../api/use-action.ts'
import { cannotNotify, unwatchRun, watchedRuns, watchRun } from '../../live/watched-runs.ts'
import { ErrorNote } from '../../parts/error-note.tsx'

/** Requests a browser notification for the end of the run. */
export function WatchRun({ run: { runId } }: { run: Run }) {
  const isWatched = watchedRuns.value.includes(runId)
  const why = cannotNotify()
  const watch = useAction(async () => (isWatched ? unwatchRun(runId) : watchRun(runId)))
  return (
    <>
      <button
        type="button"
        aria-pressed={isWatched}
        disabled={why !== undefined}
        title={why ?? 'Show a notification when the run has finished, even while this tab is hidden'}
        onClick={() => watch.run()}
      >
        Notify me
      </button>
      <ErrorNote error={watch.error} />
    </>
  )
}
