import { isJobcastError } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { removeRow } from '../../api/use-list.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { navigate } from '../../router.ts'

/** Refused while the job is in use; the error names the users. Then it can be deleted by force. */
export function DeleteJob({ jobName }: { jobName: string }) {
  const [isUsed, setUsed] = useState(false)
  const remove = async () => {
    try {
      await jobcast.jobs.delete(jobName, { force: isUsed })
    } catch (error) {
      setUsed(isJobcastError(error, 'J-315'))
      throw error
    }
    removeRow(['jobs'], jobName)
    navigate('/jobs')
  }
  return (
    <ConfirmButton
      label="Delete job"
      {...(isUsed && { confirm: 'Delete anyway' })}
      question={
        <>
          <p>
            <strong>{jobName}</strong> can no longer be triggered. Running executions continue, past ones are
            kept.
          </p>
          {isUsed && <p>If you delete it anyway, its schedules are paused and its waiting runs continue.</p>}
        </>
      }
      work={remove}
    />
  )
}
