// The list of runs. For a caller restricted to devices, filters apply to the part of each run that it may see.

import { execStates } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { isConfinedToDevices, jobFilterOf } from '../access/restriction.ts'
import type { Slice, Sliced } from '../common/ports/slices.ts'
import type { Store } from '../common/ports/store.ts'
import { isFinished } from '../execution/read-execution.ts'
import type { RunFilter } from './ports/runs.ts'
import { type RunInReach, runsInReach } from './run-in-reach.ts'

type ListRunsDeps = { store: Pick<Store, 'listRuns' | 'countRunsWithin'> }

/** A call counts at most this many executions and reads this many slices; then it returns a short slice. */
const mostCounted = 200_000
const mostReads = 10

export async function listRuns(
  deps: ListRunsDeps,
  caller: Caller,
  asked: RunFilter,
  slice: Slice<number>,
): Promise<Sliced<RunInReach, number>> {
  const { ownerNo } = caller
  const filter = { ...asked, ...jobFilterOf(caller) }
  if (!isConfinedToDevices(caller)) {
    const { items, next } = await deps.store.listRuns({ ownerNo, filter, slice })
    return { items: items.map((run) => ({ run, isWhole: true })), next }
  }
  const items: RunInReach[] = []
  let [after, counted] = [slice.after, 0]
  for (let reads = 0; reads < mostReads && counted < mostCounted; reads++) {
    const part = { after, limit: slice.limit - items.length }
    const read = await deps.store.listRuns({ ownerNo, filter: withoutEnds(filter), slice: part })
    const runs = read.items.filter(({ total }, index) => {
      counted += total
      return index === 0 || counted <= mostCounted
    })
    const seen = await runsInReach(deps, caller, runs)
    items.push(...seen.filter((each) => matches(each, filter)))
    after = runs.length < read.items.length ? runs.at(-1)?.runId : read.next
    if (after === undefined || items.length === slice.limit) return { items, next: after }
  }
  return { items, next: after }
}

/** Drops filters on the end of a run, which its visible part may match differently. An unfinished part means an unfinished run. */
function withoutEnds({ finished, finishedAfter: _, finishedBefore: __, ...filter }: RunFilter): RunFilter {
  return finished === false ? { ...filter, finished } : filter
}

function matches({ run, isWhole }: RunInReach, filter: RunFilter): boolean {
  const { finished, rolloutState, execStates: wanted = execStates, finishedAfter, finishedBefore } = filter
  const { counts, endedAt } = run
  if (finished !== undefined && isFinished(run) !== finished) return false
  if (rolloutState !== undefined && !isWhole) return false
  if (!wanted.some((state) => counts[state] > 0)) return false
  if (finishedAfter !== undefined && (endedAt === null || endedAt < finishedAfter)) return false
  return finishedBefore === undefined || (endedAt !== null && endedAt < finishedBefore)
}
