import { isJobcastError, type NewRun } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useAction } from '../../api/use-action.ts'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

export type Trigger = { run: () => void; isRunning: boolean; error: unknown; createdRun: number | undefined }

/** The plain trigger of devices, or a run with a selector or a rollout; a plan fixes which devices those are. */
export type Wanted = { jobName: string; deviceIds: string[] } | NewRun

/** Pressed twice, or again after an answer that was lost, it makes one run: the same request has the same key. */
export function useTrigger(wanted: Wanted): Trigger {
  const { can } = useScopes()
  const request = useRef<{ of: Wanted; idempotencyKey: string } | undefined>(undefined)
  const [createdRun, setCreatedRun] = useState<number>()
  const action = useAction(async () => {
    if (request.current?.of !== wanted) request.current = { of: wanted, idempotencyKey: newRequestKey() }
    const { idempotencyKey } = request.current
    const runId = await send(wanted, idempotencyKey)
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

async function send(wanted: Wanted, idempotencyKey: string): Promise<number> {
  if ('deviceIds' in wanted) {
    const { jobName, deviceIds } = wanted
    return (await jobcast.trigger({ jobName, deviceIds }, { idempotencyKey })).runId
  }
  try {
    return (await jobcast.runs.create(wanted, { idempotencyKey })).runId
  } catch (error) {
    // Other devices match by now: the page counts them again before it asks again.
    if (isJobcastError(error, 'J-505')) await refreshKeys(['devices', 'plan'])
    throw error
  }
}
