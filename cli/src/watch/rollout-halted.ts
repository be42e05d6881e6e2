// A wait ends when nothing more of the run is released without an action of a user.

import type { Run } from '@jobcast/client'
import { whoInWords } from '@jobcast/contract/words'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { plainText } from '../output/text-width.ts'

export function isHalted({ rollout }: Run): boolean {
  return rollout?.state === 'PAUSED' || rollout?.state === 'AWAITING_APPROVAL'
}

export class RolloutHalted extends Error {
  readonly run: Run
  readonly exitCode: ExitCode

  constructor(run: Run) {
    super(wordsOf(run))
    this.run = run
    this.exitCode = run.rollout?.state === 'AWAITING_APPROVAL' ? exitCode.needsApproval : exitCode.paused
  }
}

/** Who paused the rollout: the name of a key or a person, otherwise the principal. */
function pauserOf(rollout: Run['rollout']): string | null {
  return rollout ? whoInWords(rollout.pausedBy, rollout.pausedByName) : null
}

/** Empty if one approval is enough. */
function counted(approval: NonNullable<Run['rollout']>['approval']): string {
  const { required = 1, given = 0 } = approval ?? {}
  return required > 1 ? `, ${given} of ${required} given` : ''
}

/** To resume accepts the failures so far, so the first step is to look at them. */
function nextStepsOf(runId: number, { FAILED, TIMED_OUT, REJECTED, EXPIRED }: Run['counts']): string {
  const resume = `Resume it:  jobcast runs resume ${runId}`
  if (FAILED + TIMED_OUT + REJECTED + EXPIRED === 0) return resume
  return `See why:  jobcast runs failures ${runId}   ${resume}   Roll it back:  jobcast runs rollback ${runId}`
}

function wordsOf({ runId, rollout, total, counts }: Run): string {
  const released = `${rollout?.released ?? 0} of ${total} released`
  if (rollout?.state === 'AWAITING_APPROVAL')
    return `Run ${runId} waits for approval${counted(rollout.approval)} (${released}). To approve it, with the key of somebody else:  jobcast runs approve ${runId}`
  const because = plainText(rollout?.pausedBecause ?? 'it was paused')
  const by = plainText(pauserOf(rollout) ?? '')
  return `Run ${runId} is paused${by && ` by ${by}`} (${released}): ${because}. ${nextStepsOf(runId, counts)}`
}
