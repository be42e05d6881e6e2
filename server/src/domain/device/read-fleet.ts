// The fleet overview: current counts from the store, and the last day from the history.

import type { Caller } from '../access/caller.ts'
import { reachOf } from '../access/device-reach.ts'
import { jobFilterOf } from '../access/restriction.ts'
import type { Store } from '../common/ports/store.ts'
import type { CachedCounts } from './cached-counts.ts'
import { type Step, stepMs } from './fleet-steps.ts'
import type { FleetLevels } from './ports/fleet.ts'
import { readHistoryWithin, readLevelsWithin } from './read-fleet-within.ts'

export type FleetDeps = {
  store: Store
  fleetHistory: FleetHistory
  cachedCounts: CachedCounts
  now: () => number
}

/** Oldest step first; the last one is in progress. `jobs`: only of jobs that match one of these. */
type FleetHistory = {
  read(ownerNo: number, jobs?: readonly string[]): Promise<{ from: number; steps: Step[] }>
}

/** Half an hour: 48 points are enough for a chart of a day. */
const stepsPerPoint = 6
const stepsPerHour = (60 * 60_000) / stepMs

type FleetPoint = Step

export type FleetNow = FleetLevels & {
  lastHour: { succeeded: number; failed: number }
  history: { from: number; stepMs: number; points: FleetPoint[] }
}

/** A caller restricted to jobs sees all devices, and the executions of these jobs. */
export async function readFleet(deps: FleetDeps, caller: Caller): Promise<FleetNow> {
  const { store, fleetHistory, cachedCounts, now } = deps
  const { ownerNo } = caller
  const where = reachOf(caller)
  const ofJobs = jobFilterOf(caller)
  if (where === undefined) {
    const history = await fleetHistory.read(ownerNo, ofJobs.jobs)
    return toFleetNow(history, await store.getFleetLevels({ ownerNo, ...ofJobs }))
  }
  return cachedCounts.read(ownerNo, ['fleet', where, ofJobs], async () => {
    const within = { ownerNo, where, ...ofJobs }
    const history = await readHistoryWithin(store, { ...within, now: now() })
    return toFleetNow(history, await readLevelsWithin(store, within))
  })
}

function toFleetNow({ from, steps }: { from: number; steps: Step[] }, levels: FleetLevels): FleetNow {
  const lastHour = steps.slice(-stepsPerHour)
  return {
    ...levels,
    lastHour: { succeeded: sum(lastHour, 'succeeded'), failed: sum(lastHour, 'failed') },
    history: { from, stepMs: stepMs * stepsPerPoint, points: pointsOf(steps, levels) },
  }
}

/** Works backwards from the current counts: the count before a step is the count after it minus its change. */
function pointsOf(steps: Step[], { waiting, running }: FleetLevels): FleetPoint[] {
  const points: FleetPoint[] = []
  const level = { waiting, running }
  for (const group of groupsOf(steps).reverse()) {
    // Counts and events are not read at the same instant, so a result below zero is possible.
    points.unshift({
      waiting: Math.max(0, level.waiting),
      running: Math.max(0, level.running),
      succeeded: sum(group, 'succeeded'),
      failed: sum(group, 'failed'),
    })
    level.waiting -= sum(group, 'waiting')
    level.running -= sum(group, 'running')
  }
  return points
}

function groupsOf(steps: Step[]): Step[][] {
  const groups: Step[][] = []
  for (let start = 0; start < steps.length; start += stepsPerPoint) {
    groups.push(steps.slice(start, start + stepsPerPoint))
  }
  return groups
}

function sum(steps: Step[], name: keyof Step): number {
  return steps.reduce((total, step) => total + step[name], 0)
}
