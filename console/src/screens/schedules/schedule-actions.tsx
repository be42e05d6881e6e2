// Actions on a schedule that the key may use: fire, pause, resume, edit and delete.

import type { Schedule } from '@jobcast/client'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryCache } from '../../api/query-cache.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { removeRow } from '../../api/use-list.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'
import { targetsInWords } from './when-in-words.ts'

export function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const { can } = useScopes()
  const { scheduleName, paused, jobName, targets } = schedule
  const pauseOrResume = useAction(async () => {
    const changed = await jobcast.schedules[paused ? 'resume' : 'pause'](scheduleName)
    queryCache.set(queries.schedule(scheduleName).queryKey, changed)
    await refreshKeys(['schedules'])
  })
  const fire = async () => {
    const { runId } = await jobcast.schedules.fire(scheduleName)
    await refreshKeys(['schedule', scheduleName], ['runs'])
    navigate(`/runs/${runId}`)
  }
  const remove = async () => {
    await jobcast.schedules.delete(scheduleName)
    removeRow(['schedules'], scheduleName)
    navigate('/schedules')
  }
  return (
    <>
      <ErrorNote error={pauseOrResume.error} />
      {can('TRIGGER') && (
        <ConfirmButton
          label="Fire now"
          isHarmless
          question={`${jobName} runs now on ${targetsInWords(targets)}, in addition to the times of the schedule.`}
          work={fire}
        />
      )}
      {can('MANAGE') && (
        <>
          <button type="button" disabled={pauseOrResume.isRunning} onClick={() => pauseOrResume.run()}>
            {paused ? 'Resume' : 'Pause'}
          </button>
          <a class="button" href={`/schedules/${encodeURIComponent(scheduleName)}?edit`}>
            Edit
          </a>
          <ConfirmButton
            label="Delete schedule"
            question={
              <p>
                <strong>{scheduleName}</strong> creates no more runs. Its existing runs are kept.
              </p>
            }
            work={remove}
          />
        </>
      )}
    </>
  )
}
