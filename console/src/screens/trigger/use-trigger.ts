import { isJobcastError, type NewRun } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useAction } from '../../api/use-action.ts'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

export type Trigger = { run: () => void; isRunning: boolean; error: unknown; createdRun: number | undefined }

/** The plain trigger of devices, or a run with a selector or a rollout: exactly as its plan shows it, once there is one. */
export type Wanted = { jobName: string; deviceIds: string[] } | NewRun | { planId: string }

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
      // A plan is started once.
      await refreshKeys(['devices', 'plan'])
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
    if ('jobName' in wanted) return (await jobcast.runs.create(wanted, { idempotencyKey })).runId
    return (await jobcast.runs.start(wanted.planId)).runId
  } catch (error) {
    // Something has changed by now: the page plans it again before it asks again.
    if (isJobcastError(error, 'J-505')) await refreshKeys(['devices', 'plan'])
    throw error
  }
}
