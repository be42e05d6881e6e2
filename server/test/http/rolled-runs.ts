// A few devices of a real server with its own ticker, and runs with rollouts on them.

import assert from 'node:assert/strict'
import type { Api } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { waitUntil } from '@jobcast/testkit/wait-until'

type ShownCause = {
  rule: string
  wave: number
  needed: number | null
  possible: number | null
  stopRule: number | null
  executions: { deviceId: string; execState: string }[]
}
type ShownGate = {
  size: number
  needed: number
  succeeded: number
  possible: number
  offline: number
  opensAt: string | null
}
type ShownRun = {
  runId: number
  version: number
  total: number
  counts: Record<string, number>
  retryOf: number | null
  rollbackOf: number | null
  note: string | null
  rollout: {
    state: string
    wave: number
    released: number
    pausedBecause: string | null
    pausedBy: string | null
    pausedByName: string | null
    pausedCause: ShownCause | null
    waves: { size: number; released: number; counts: Record<string, number> }[]
    gate: ShownGate | null
    stopRules: { count: number; ended: number }[]
    definition: object
  } | null
}
/** The ids of its executions are in the order of the devices. */
type Launched = { path: string; runId: number; executionIds: number[] }

/** A job whose rollout takes devices in the order of the call, unless it says otherwise. */
export function inGivenOrder(content: { rollout?: object }): object {
  return content.rollout ? { ...content, rollout: { order: 'GIVEN', ...content.rollout } } : content
}

export async function openRolledRuns(api: Api, prefix: string, count: number) {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index}`)
  const devices = await Promise.all(ids.map((id) => newDevice(api, id)))
  let jobs = 0

  async function newJob(content: object): Promise<string> {
    const jobName = `${prefix}-job-${++jobs}`
    const put = await api.call('PUT', `/job/api/jobs/${jobName}`, { body: inGivenOrder(content) })
    assert.equal(put.status, 201, put.text)
    return jobName
  }

  /** By the trigger call, so that the job says how it is released. */
  async function launch(jobName: string, deviceIds = ids): Promise<Launched> {
    const reply = await api.trigger(jobName, deviceIds)
    assert.equal(reply.status, 201, reply.text)
    const path = reply.headers.get('location') as string
    const executions: { jobExecutionId: number }[] = reply.json
    const executionIds = executions.map(({ jobExecutionId }) => jobExecutionId)
    return { path, runId: Number(path.split('/').at(-1)), executionIds }
  }

  async function runOf(path: string): Promise<ShownRun> {
    const reply = await api.call('GET', path)
    assert.equal(reply.status, 200, reply.text)
    return reply.json
  }

  async function waitFor(path: string, released: number, state = 'ROLLING_OUT') {
    let shown = await runOf(path)
    await waitUntil(`${released} are released and it is ${state}`, async () => {
      shown = await runOf(path)
      return shown.rollout?.released === released && shown.rollout.state === state
    })
    return shown.rollout as NonNullable<ShownRun['rollout']>
  }

  const act = (path: string, name: string, body?: unknown, key?: string) =>
    api.call('POST', `${path}/${name}`, { ...(body !== undefined && { body }), ...(key && { key }) })

  /** The device at this position reports of its execution. */
  async function report({ executionIds }: Launched, index: number, status: string): Promise<void> {
    const reply = await devices[index]?.update(executionIds[index] as number, status)
    assert.equal(reply?.status, 200, `${status}: ${reply?.text}`)
  }

  return { ids, devices, newJob, launch, runOf, waitFor, act, report }
}
