// What still runs of an attempt whose agent was killed. A pid alone proves nothing: it may be somebody else's by now.

import { endGroup } from './end-group.ts'
import type { Entry } from './journal-records.ts'
import { hasInEnvironment, listProcesses, type ProcessSeen, readProcess } from './list-processes.ts'

/** Ends the process groups that are provably of its last start; gives which. */
export async function endLeftovers(entry: Entry, bootId: string, graceMs: number): Promise<number[]> {
  if (entry.bootId !== bootId) return []
  // This agent may itself have been started by a handler, to take over from the one that is gone.
  const ownGroup = readProcess(process.pid)?.group
  const groups = new Set(
    listProcesses()
      .filter((seen) => !seen.isZombie && seen.group !== ownGroup && isOf(seen, entry))
      .map(({ group }) => group),
  )
  await Promise.all([...groups].map((group) => endGroup(group, graceMs)))
  return [...groups]
}

/** It was given the id of the start, or it is the very process whose pid and time of birth were noted. */
function isOf({ pid, startedAt }: ProcessSeen, { startId, processes }: Entry): boolean {
  return (
    processes.some((noted) => noted.pid === pid && noted.startedAt === startedAt) ||
    (startId !== '' && hasInEnvironment(pid, `JOBCAST_START_ID=${startId}`))
  )
}
