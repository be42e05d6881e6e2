// Events for a caller restricted to devices: events of these devices, and of runs with at least one of them, with the counts
// of these devices only.

import type { Selector } from '@jobcast/contract/selector'
import { type EventNoun, nounOf } from '@jobcast/contract/words'
import type { Caller } from '../access/caller.ts'
import { devicesWithin, reachOf } from '../access/device-reach.ts'
import type { Store } from '../common/ports/store.ts'
import type { RunWithin } from '../trigger/ports/runs-within.ts'
import type { EventFilter, StoredEvent } from './event.ts'

type Deps = { store: Pick<Store, 'matchDevices' | 'countRunsWithin'> }
type Show = (events: StoredEvent[]) => Promise<StoredEvent[]>

const ofDevices: readonly EventNoun[] = ['device', 'execution']
/** Size of a cache: counting the devices of a large run for each event would take long. */
const keptRuns = 1000

/** Created once per listener. */
export function showInReach(
  deps: Deps,
  caller: Pick<Caller, 'ownerNo' | 'restriction'>,
  filter: EventFilter,
): Show {
  const where = reachOf(caller)
  if (where === undefined) return async (events) => events
  const { ownerNo } = caller
  const counted = new Map<number, RunWithin | undefined>()

  async function countRuns(events: StoredEvent[], where: Selector): Promise<void> {
    const wanted = new Set<number>()
    for (const { type, data } of events) {
      if (nounOf(type) !== 'run' || !('runId' in data) || typeof data.runId !== 'number') continue
      if (type === 'run.finished' || !counted.has(data.runId)) wanted.add(data.runId)
    }
    if (wanted.size === 0) return
    if (counted.size + wanted.size > keptRuns) counted.clear()
    const runIds = [...wanted]
    for (const runId of runIds) counted.set(runId, undefined)
    for (const run of await deps.store.countRunsWithin({ ownerNo, runIds, where }))
      counted.set(run.runId, run)
  }

  return async (events) => {
    if (events.length === 0) return events
    const named = filter.deviceId === undefined ? [] : [filter.deviceId]
    const deviceIds = events.flatMap((event) => deviceOf(event) ?? [])
    const within = await devicesWithin(deps, caller, where, [...named, ...deviceIds])
    if (filter.deviceId !== undefined && !within.has(filter.deviceId)) return []
    await countRuns(events, where)
    return events.flatMap((event) => {
      const noun = nounOf(event.type)
      if (ofDevices.includes(noun)) return within.has(deviceOf(event) ?? '') ? event : []
      if (noun !== 'run') return event
      return ofRun(event, counted)
    })
  }
}

function deviceOf({ type, data }: StoredEvent): string | undefined {
  if (!ofDevices.includes(nounOf(type)) || !('deviceId' in data)) return undefined
  return data.deviceId ?? undefined
}

/** Removes everything about other devices from an event of a run. */
function ofRun({ data, ...event }: StoredEvent, counted: Map<number, RunWithin | undefined>): StoredEvent[] {
  const all = data as {
    runId: number
    jobName: string
    total: number
    retryOf: number | null
    counts?: object
  }
  const part = counted.get(all.runId)
  if (part === undefined) return []
  if (part.total === all.total) return [{ ...event, data }]
  const { runId, jobName, retryOf } = all
  const counts = all.counts ? { counts: part.counts } : {}
  return [{ ...event, data: { runId, jobName, total: part.total, retryOf, ...counts } }]
}
