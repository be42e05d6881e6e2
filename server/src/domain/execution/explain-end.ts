// Explains in one sentence how an execution ended, from the last entry of its history.

import { toInstant } from '@jobcast/contract'
import { whoInWords } from '@jobcast/contract/words'
import type { WallInstant } from '../common/instants.ts'
import type { StoredExecution, StoredTransition } from './ports/executions.ts'

export function explainEnd(
  execution: Pick<StoredExecution, 'execState' | 'attempt' | 'finishedAt'>,
  transitions: StoredTransition[],
): string {
  const { execState, attempt, finishedAt } = execution
  const when = inWords(finishedAt)
  const attempts = attempt > 1 ? `, after ${attempt} attempts` : ''
  const last = transitions.at(-1)
  const why = last?.reason ? `: ${last.reason}` : ''
  switch (last?.event) {
    case 'succeed':
    case 'fail':
      return `${execState}: reported by the device at ${when}${attempts}${why}.`
    case 'reject':
      return `${execState}: refused by the device at ${when}${attempts}${why}.`
    case 'expire':
      return `${execState} at ${when}${attempts}: waited longer than expireAfterSeconds allows.`
    case 'time-out':
      return `${execState} at ${when}${attempts}: the device worked longer than timeoutSeconds, or its own step timeout, allows.`
    case 'miss-deadline':
      return `${execState} at ${when}${attempts}: it took longer in total than deadlineSeconds allows.`
    case 'cancel':
      return `${execState}${byWhom(last)}.`
    case 'force-cancel':
      return why ? `${execState} at ${when}${why}.` : `${execState} by force${byWhom(last)}.`
    case 'remove-device':
      return `${execState}: the device was deleted${byWhom(last)}.`
    case 'rollout-stopped':
      return `${execState} at ${when}: its run was stopped${byKey(last)} before this was released.`
    case 'superseded':
      return `${execState} at ${when}: it was replaced by a later run${byKey(last)}.`
    case 'no-longer-matching':
      return `${execState} at ${when}: the device no longer matched the selector of its schedule.`
    case 'confirm-cancel':
      return `${execState}: confirmed by the device at ${when}, requested${byWhom(cancelOf(transitions))}.`
    case 'overrun-cancel':
      return `${execState} at ${when}: the device did not confirm in time, requested${byWhom(cancelOf(transitions))}.`
    default:
      return `${execState} at ${when}.`
  }
}

function cancelOf(transitions: StoredTransition[]): StoredTransition | undefined {
  return transitions.findLast(({ event }) => event === 'cancel')
}

/** Names the key; empty if a rule or a clock did it. */
function byKey({ actor, actorName }: StoredTransition): string {
  return actorName === null ? '' : ` by ${whoInWords(actor, actorName)}`
}

/** ` by key ci at 2026-…`, as a suffix; empty if the step is unknown. */
export function byWhom(step: StoredTransition | undefined): string {
  if (step === undefined) return ''
  return ` by ${whoInWords(step.actor, step.actorName)} at ${inWords(step.at)}`
}

/** In whole seconds, for readability. */
export function inWords(ms: WallInstant | null): string {
  return ms === null ? 'an unknown time' : `${toInstant(ms).slice(0, 19)}Z`
}
