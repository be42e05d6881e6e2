// The fleet overview for callers restricted to devices: the levels of these devices, and their last day from the event log. Nothing
// is kept between two reads, because the selector may match other devices. It reads a bounded number of events and executions;
// if there are more, the history begins later.

import type { Selector } from '@jobcast/contract/selector'
import type { Store } from '../common/ports/store.ts'
import { addFlow, emptyStep, type Step, stepMs, stepsPerDay } from './fleet-steps.ts'
import { lowestOf } from './lowest-id.ts'
import type { FleetLevels, FlowsWithin } from './ports/fleet.ts'
import { inParts } from './run-parts.ts'

const devicesPerPage = 10_000
const maxEvents = 100_000
/** Of the runs that were created in this time. */
const maxExecutions = 200_000

type Within = { ownerNo: number; where: Selector; jobs?: readonly string[] }

export async function readLevelsWithin(store: Store, { ownerNo, where, jobs }: Within): Promise<FleetLevels> {
  const { total: devices, online } = await store.countDevices({ ownerNo, where })
  const levels: FleetLevels = { devices, online, waiting: 0, running: 0, oldestWaiting: undefined }
  let oldestId: number | undefined
  let after: string | undefined
  do {
    const page = await store.selectDevices({ ownerNo, where, slice: { after, limit: devicesPerPage } })
    const found = await store.countUnfinished({ ownerNo, devices: page.items, ...(jobs && { jobs }) })
    levels.waiting += found.waiting
    levels.running += found.running
    oldestId = lowestOf(oldestId, found.oldestWaitingId)
    after = page.next
  } while (after !== undefined)
  const oldest =
    oldestId === undefined ? undefined : await store.getExecution({ ownerNo, jobExecutionId: oldestId })
  if (oldest !== undefined) {
    const { jobExecutionId, runId, jobName, deviceId, launchedAt } = oldest
    levels.oldestWaiting = { jobExecutionId, runId, jobName, deviceId, launchedAt }
  }
  return levels
}

/** Oldest step first; the last one is in progress. */
export async function readHistoryWithin(
  store: Store,
  { now, ...within }: Within & { now: number },
): Promise<{ from: number; steps: Step[] }> {
  const { ownerNo } = within
  const lastStepNo = Math.floor(now / stepMs)
  const dayAgo = await store.findEventBefore({ ownerNo, at: now - stepsPerDay * stepMs })
  const { newest, purgedUpTo } = await store.getEventBounds({ ownerNo })
  const after = Math.max(dayAgo, purgedUpTo)
  const steps = new Map<number, Step>()
  const left = { events: maxEvents, executions: maxExecutions }
  let oldestAt = now
  let before = newest + 1
  while (before > after + 1 && left.events > 0) {
    const page = await store.countFlowsWithin({
      ...within,
      ...{ after, before, stepMs, maxExecutions: left.executions },
    })
    for (const flow of page.flows) addFlow(steps, flow)
    await addCreated(store, within, page.created, steps)
    left.events -= page.events
    for (const { total } of page.created) left.executions -= total
    oldestAt = page.oldestAt ?? oldestAt
    if (page.isCut) break
    before = page.downTo + 1
  }
  const isComplete = before <= after + 1 && after === dayAgo
  const dayStart = lastStepNo - stepsPerDay + 1
  const firstStepNo = isComplete
    ? dayStart
    : Math.min(lastStepNo, Math.max(dayStart, Math.floor(oldestAt / stepMs) + 1))
  return {
    from: firstStepNo * stepMs,
    steps: Array.from(
      { length: lastStepNo - firstStepNo + 1 },
      (_, index) => steps.get(firstStepNo + index) ?? emptyStep(),
    ),
  }
}

async function addCreated(
  store: Store,
  { ownerNo, where }: Within,
  created: FlowsWithin['created'],
  steps: Map<number, Step>,
): Promise<void> {
  const stepOf = new Map(created.map(({ runId, at }) => [runId, Math.floor(at / stepMs)]))
  for (const runIds of inParts(created)) {
    for (const { runId, total: count } of await store.countRunsWithin({ ownerNo, runIds, where })) {
      const stepNo = stepOf.get(runId) ?? 0
      addFlow(steps, { stepNo, from: null, to: 'PENDING', count })
    }
  }
}
