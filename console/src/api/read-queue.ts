// The queue of a device in its order: executions in progress, then waiting ones by priority, oldest first.

import type { Execution } from '@jobcast/client'
import { jobcast } from './client.ts'

/** Beyond this number, the order of waiting executions is unknown, because lists are sorted newest first. */
const waitingAtMost = 1000

type DeviceQueue = {
  active: Execution[]
  waiting: Execution[]
  /** There are more, and these are the newest ones. */
  hasMore: boolean
}

export async function readQueue(deviceId: string, options: { signal: AbortSignal }): Promise<DeviceQueue> {
  const page = (execState: 'IN_PROGRESS' | 'CANCELING') =>
    jobcast.executions.list({ deviceId, execState }, options).page()
  const [running, canceling, waiting] = await Promise.all([
    page('IN_PROGRESS'),
    page('CANCELING'),
    readWaiting(deviceId, options),
  ])
  return {
    active: [...running.items, ...canceling.items].sort((a, b) => a.jobExecutionId - b.jobExecutionId),
    ...waiting,
  }
}

async function readWaiting(deviceId: string, options: { signal: AbortSignal }) {
  const waiting: Execution[] = []
  const all = jobcast.executions.list({ deviceId, execState: 'PENDING', limit: 200 }, options)
  for await (const execution of all) {
    if (waiting.length === waitingAtMost) return { waiting: inOrder(waiting), hasMore: true }
    waiting.push(execution)
  }
  return { waiting: inOrder(waiting), hasMore: false }
}

/** Executions that wait for a retry are last. */
function inOrder(waiting: Execution[]): Execution[] {
  const retriesAt = ({ notBefore }: Execution) => notBefore ?? ''
  return waiting.sort(
    (a, b) =>
      retriesAt(a).localeCompare(retriesAt(b)) ||
      b.priority - a.priority ||
      a.jobExecutionId - b.jobExecutionId,
  )
}
