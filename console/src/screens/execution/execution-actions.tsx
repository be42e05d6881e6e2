import { type Execution, isEnd } from '@jobcast/client'
import { useRef } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { queryCache } from '../../api/query-cache.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useAction } from '../../api/use-action.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

export function ExecutionActions({ execution }: { execution: Execution }) {
  const { can } = useScopes()
  const { jobExecutionId, execState, deviceId } = execution
  const cancel = async (force: boolean) => {
    const canceled = await jobcast.executions.cancel(jobExecutionId, { force })
    queryCache.set(queries.execution(jobExecutionId).queryKey, canceled)
  }
  return (
    <>
      {can('TRIGGER') && isEnd(execState) && execState !== 'SUCCEEDED' && (
        <RetryButton execution={execution} />
      )}
      {can('MANAGE') && (execState === 'PENDING' || execState === 'IN_PROGRESS') && (
        <ConfirmButton
          label="Cancel"
          confirm="Cancel execution"
          question={
            execState === 'PENDING' ? (
              <>
                It has not started, so it is canceled immediately. <bdi>{deviceId}</bdi> never receives it.
              </>
            ) : (
              <>
                <bdi>{deviceId}</bdi> is asked to stop and has a minute to confirm.
              </>
            )
          }
          work={() => cancel(false)}
        />
      )}
      {can('MANAGE') && execState === 'CANCELING' && (
        <ConfirmButton
          label="Force cancel"
          question={
            <>
              <bdi>{deviceId}</bdi> has not confirmed yet. The execution becomes CANCELED immediately, even if
              the device is still working on it.
            </>
          }
          work={() => cancel(true)}
        />
      )}
    </>
  )
}

function RetryButton({ execution: { runId, deviceId } }: { execution: Execution }) {
  const idempotencyKey = useRef(newRequestKey())
  const action = useAction(async () => {
    const options = { idempotencyKey: idempotencyKey.current }
    const made = await jobcast.runs.retry(runId, { deviceIds: [deviceId] }, options)
    idempotencyKey.current = newRequestKey()
    navigate(`/runs/${made.runId}`)
  })
  return (
    <>
      <button type="button" class="primary" disabled={action.isRunning} onClick={() => action.run()}>
        Retry
      </button>
      <ErrorNote error={action.error} />
    </>
  )
}
