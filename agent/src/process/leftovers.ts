// Processes still running from an attempt whose agent was killed. A pid alone proves nothing: it may have been reused.

import type { Entry } from '../state/journal-records.ts'
import { endGroup } from './end-group.ts'
import { hasInEnvironment, listProcesses, type ProcessSeen, readProcess } from './list-processes.ts'

/** Ends the process groups that provably belong to its last start, and returns them. */
export async function endLeftovers(entry: Entry, bootId: string, graceMs: number): Promise<number[]> {
  if (entry.bootId !== bootId) return []
  // This agent may itself have been started by a handler, for example by a job that updates the agent.
  const ownGroup = readProcess(process.pid)?.group
  const groups = new Set(
    listProcesses()
      .filter((seen) => !seen.isZombie && seen.group !== ownGroup && isOf(seen, entry))
      .map(({ group }) => group),
  )
  await Promise.all([...groups].map((group) => endGroup(group, graceMs)))
  return [...groups]
}

/** Matches the id of the start in the environment, or the recorded pid and start time. */
function isOf({ pid, startedAt }: ProcessSeen, { startId, processes }: Entry): boolean {
  return (
    processes.some((recorded) => recorded.pid === pid && recorded.startedAt === startedAt) ||
    (startId !== '' && hasInEnvironment(pid, `JOBCAST_START_ID=${startId}`))
  )
}
