import { isJobcastError, type NewRun } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useAction } from '../../api/use-action.ts'
import { navigate } from '../../router.ts'
import { useScopes } from '../../scopes.ts'

export type Trigger = { run: () => void; isRunning: boolean; error: unknown; createdRun: number | undefined }

/** A plain trigger with devices, a run with a selector or a rollout, or its plan, if there is one. */
export type Wanted = { jobName: string; deviceIds: string[] } | NewRun | { planId: string }

/** Equal requests have the same idempotency key, so a double click or a retry after a lost response creates one run. */
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
      // A plan can be started once.
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
    // Something has changed since the plan, so the page makes a new one.
    if (isJobcastError(error, 'J-505')) await refreshKeys(['devices', 'plan'])
    throw error
  }
}
