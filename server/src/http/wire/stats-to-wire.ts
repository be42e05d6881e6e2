// Counts over time -> API objects, field by field.

import {
  type FleetGroupQuery,
  type FleetGroups,
  type RunTimeline,
  type Stats,
  toInstant,
} from '@jobcast/contract'
import type { Figures, StatsFound } from '../../domain/device/read-stats.ts'
import type { Timeline } from '../../domain/device/read-timeline.ts'
import type { FleetGroup, FleetGroups as GroupsFound } from '../../state/fleet-groups.ts'

export function toRunTimeline({ run, until, stepMs, sampled, counts }: Timeline): RunTimeline {
  return {
    runId: run.runId,
    from: toInstant(run.launchedAt),
    until: toInstant(until),
    stepMs,
    total: run.total,
    sampled,
    counts: Object.fromEntries(counts),
  }
}

export function toStats(found: StatsFound): Stats {
  return {
    from: toInstant(found.from),
    until: toInstant(found.until),
    stepMs: found.stepMs,
    completeFrom: toInstant(found.completeFrom),
    sampled: found.sampled,
    overall: toFigures(found.overall),
    buckets: found.buckets.map((bucket) => ({ from: toInstant(bucket.from), ...toFigures(bucket) })),
    jobs: found.jobs.map((job) => ({ jobName: job.jobName, ...toFigures(job) })),
  }
}

function toFigures({ total, counts, successRate, durationMs }: Figures) {
  return {
    total,
    counts,
    successRate,
    durationMs: durationMs && { p50: durationMs.p50, p95: durationMs.p95 },
  }
}

export function toFleetGroups(
  { at, all, groups, total }: GroupsFound,
  { by, limit }: FleetGroupQuery,
): FleetGroups {
  return {
    asOf: toInstant(at),
    by,
    all: toGroup(all),
    groups: groups.slice(0, limit).map((group) => ({
      value: group.value,
      ...(by === 'tag' && { tag: group.value }),
      ...toGroup(group),
    })),
    otherGroups: Math.max(0, total - limit),
  }
}

function toGroup({ devices, online, states }: FleetGroup) {
  return { devices, online, states: Object.fromEntries(states) }
}
