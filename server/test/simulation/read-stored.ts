// The stored state of one owner at the end of a simulation.

import type { Execution, Transition } from '@jobcast/contract'
import type { Parts } from '../../src/build-parts.ts'
import type { Slice, Sliced } from '../../src/domain/common/ports/slices.ts'
import { toWireEvent } from '../../src/domain/event/event.ts'
import { viewRollouts } from '../../src/domain/rollout/view-rollout.ts'
import { toExecution, toRun, toTransition } from '../../src/http/wire/to-wire.ts'
import type { Final } from '../history/history.ts'
import { startedAt } from './virtual-time.ts'

export async function readStored(parts: Parts, ownerNo: number): Promise<Final> {
  const { store } = parts
  const readAll = async <T>(read: (slice: Slice<number>) => Promise<Sliced<T, number>>) => {
    const all: T[] = []
    let after: number | undefined
    do {
      const { items, next } = await read({ after, limit: 200 })
      all.push(...items)
      after = next
    } while (after !== undefined)
    return all
  }
  const log: Final['log'] = []
  for (let after = 0, more = true; more; ) {
    const page = await store.listEvents({ ownerNo, filter: {}, slice: { after, limit: 500 } })
    log.push(...page.events.map(toWireEvent))
    after = page.upTo
    more = page.more
  }
  const runs = await readAll((slice) => store.listRuns({ ownerNo, filter: {}, slice }))
  const stored = await readAll((slice) => store.listExecutions({ ownerNo, filter: {}, slice }))
  const clocks = { at: startedAt, clock: startedAt } as unknown as Parameters<typeof toExecution>[1]
  const executions: Execution[] = stored.map((each) => toExecution(each, clocks))
  const transitions = new Map<number, Transition[]>()
  for (const { jobExecutionId } of executions) {
    const its = (await store.listTransitions({ ownerNo, jobExecutionId })) ?? []
    transitions.set(jobExecutionId, its.map(toTransition))
  }
  const rollouts = await viewRollouts(parts, { ownerNo, ownerId: '', keyId: '', scopes: [] }, runs, {
    withGates: false,
  })
  return { runs: runs.map((run) => toRun(run, rollouts)), executions, transitions, log, webhookAfter: 0 }
}
