import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useAction } from '../../api/use-action.ts'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

export type Trigger = { run: () => void; isRunning: boolean; error: unknown; createdRun: number | undefined }

/** Pressed twice, or again after an answer that was lost, it makes one run: the same request has the same key. */
export function useTrigger(jobName: string, deviceIds: string[]): Trigger {
  const { can } = useScopes()
  const request = useRef<{ of: string[]; jobName: string; idempotencyKey: string } | undefined>(undefined)
  const [createdRun, setCreatedRun] = useState<number>()
  const action = useAction(async () => {
    if (request.current?.of !== deviceIds || request.current.jobName !== jobName) {
      request.current = { of: deviceIds, jobName, idempotencyKey: newRequestKey() }
    }
    const { idempotencyKey } = request.current
    const { runId } = await jobcast.trigger({ jobName, deviceIds }, { idempotencyKey })
    if (can('READ')) navigate(`/runs/${runId}`)
    else {
      request.current = undefined
      setCreatedRun(runId)
    }
  })
  return {
    run: () => void (action.isRunning || action.run()),
    isRunning: action.isRunning,
    error: action.error,
    createdRun,
  }
}
