// Turns the ends of steps into the status of the attempt.

import type { Step } from '../document/step.ts'
import type { Outcome } from './outcome.ts'
import type { Ending, StepEnd } from './run-step.ts'

/** The handler asks to be started again after the next boot. AWS Systems Manager uses the same number. */
const rebootExitCode = 194

type Verdict = {
  status: Outcome['status']
  reason?: string
  retryAfterSeconds?: number
  exitCode?: number | undefined
  signal?: string | undefined
}

export function asksForReboot(end: StepEnd): boolean {
  return end.kind === 'exited' && end.exitCode === rebootExitCode
}

/** The handler cannot run now and asks to be started later: EX_TEMPFAIL of sysexits.h. */
const notNowExitCode = 75
const firstWaitSeconds = 60
const longestWaitSeconds = 3600

/** Why the step failed; undefined if it succeeded. */
export function failureOf({ allowStdErr }: Step, end: StepEnd): string | undefined {
  if (end.kind === 'not-started') return end.reason
  const { exitCode, signal, stderrLines } = end
  if (signal !== null) return `was ended by ${signal}`
  if (exitCode !== 0) return `exited with code ${exitCode}`
  if (allowStdErr !== undefined && stderrLines > allowStdErr) {
    return `printed ${stderrLines} lines on stderr, and ${allowStdErr} are allowed`
  }
  return undefined
}

/**
 * `last` is the last step that ran, if any; `mayRefuse`: no program was ever started; `waited`: the retry delay after the
 * last "not now", in seconds.
 */
export function judgeRun(
  last: { step: Step; end: StepEnd } | undefined,
  ending: Ending | undefined,
  mayRefuse: boolean,
  waited?: number,
): Verdict {
  const exit = last?.end.kind === 'exited' ? last.end : undefined
  const details = { exitCode: exit?.exitCode ?? undefined, signal: exit?.signal ?? undefined }
  switch (ending?.kind) {
    case 'canceled':
      return { status: 'CANCELED', ...details }
    case 'time-limit':
      return { status: 'FAILED', reason: 'took longer than its time limit', ...details }
    case 'stopping':
      return { status: 'FAILED', reason: 'interrupted: the agent was stopped while it ran', ...details }
  }
  const reason = last && failureOf(last.step, last.end)
  if (last === undefined || reason === undefined || last.step.ignoreFailure) {
    return { status: 'SUCCEEDED', ...details }
  }
  if (exit?.exitCode === notNowExitCode) {
    const retryAfterSeconds =
      waited === undefined ? firstWaitSeconds : Math.min(longestWaitSeconds, waited * 2)
    const when = `not now (exit code ${notNowExitCode}), again in ${retryAfterSeconds} s`
    return { status: 'REJECTED', reason: when, retryAfterSeconds, ...details }
  }
  const isRefusal = mayRefuse && last.end.kind === 'not-started' && last.end.isFinal
  return { status: isRefusal ? 'REJECTED' : 'FAILED', reason, ...details }
}
