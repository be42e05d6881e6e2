// Cancels or retries the selected executions. Executions whose state does not allow this are skipped, and the buttons count only
// the others.

import { type Execution, isEnd, type Run } from '@jobcast/client'
import { useRef } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

type Props = { selected: Execution[]; onDone: () => void }

/** Maximum number of concurrent requests, because browsers have six connections. */
const atOnce = 4

export function BulkActions({ selected, onDone }: Props) {
  const { can } = useScopes()
  const idempotencyKey = useRef(newRequestKey())
  const cancelable = selected.filter(
    ({ execState }) => execState === 'PENDING' || execState === 'IN_PROGRESS',
  )
  const retryable = selected.filter(({ execState }) => isEnd(execState) && execState !== 'SUCCEEDED')
  const cancel = async () => {
    await inTurn(cancelable, ({ jobExecutionId }) => jobcast.executions.cancel(jobExecutionId))
    onDone()
    await refreshKeys(['executions'])
  }
  const retry = async () => {
    const byRun = [...Map.groupBy(retryable, ({ runId }) => runId)]
    const runs: Run[] = []
    // Creates one retry for each of their runs, because a run has one version of one job.
    await inTurn(byRun, async ([runId, executions]) => {
      const deviceIds = executions.map(({ deviceId }) => deviceId)
      const options = { idempotencyKey: `${idempotencyKey.current}-${runId}` }
      runs.push(await jobcast.runs.retry(runId, { deviceIds }, options))
    })
    onDone()
    navigate(runs.length === 1 ? `/runs/${runs[0]?.runId}` : '/runs')
  }
  return (
    <>
      {can('TRIGGER') && retryable.length > 0 && (
        <ConfirmButton
          label={`Retry ${formatCount(retryable.length)}`}
          isHarmless
          question={`${sayCount(retryable.length)} that did not succeed are retried, each in a new run.`}
          work={retry}
        />
      )}
      {can('MANAGE') && cancelable.length > 0 && (
        <ConfirmButton
          label={`Cancel ${formatCount(cancelable.length)}`}
          confirm={`Cancel ${sayCount(cancelable.length)}`}
          question="Pending executions are canceled immediately; devices are asked to stop running ones."
          work={cancel}
        />
      )}
    </>
  )
}

function sayCount(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'execution' : 'executions'}`
}

/** Runs a few at a time. The first error ends it, and is thrown. */
async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
