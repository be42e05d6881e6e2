// Runs the steps of one start in order, up to the first that fails or asks for a reboot.

import type { Step } from '../document/step.ts'
import type { Tell } from '../events.ts'
import { handlerEnvironment } from '../handler/handler-environment.ts'
import type { Progress } from '../output/progress-lines.ts'
import { readProcess } from '../process/list-processes.ts'
import type { Journal } from '../state/journal.ts'
import type { BegunStart } from './begin-start.ts'
import type { EarlyEnd } from './early-end.ts'
import { asksForReboot, failureOf } from './judge-run.ts'
import { runStep, type StepEnd } from './run-step.ts'

export type StepsDeps = {
  deviceId: string
  journal: Journal
  environment: NodeJS.ProcessEnv
  graceMs: number
  tell: Tell
}

type Steps = {
  steps: Step[]
  /** A program for each step. */
  programs: string[]
  /** The document, for stdin. */
  input: string
  onProgress: (progress: Progress) => void
}

/** The last step that ran, if any. */
export type LastStep = { index: number; step: Step; end: StepEnd }

export async function runSteps(
  deps: StepsDeps,
  begun: BegunStart,
  { steps, programs, input, onProgress }: Steps,
  early: EarlyEnd,
): Promise<LastStep | undefined> {
  const { key, paths, spool, start, startId, isResumed, firstStep } = begun
  let last: LastStep | undefined
  for (const [index, step] of steps.entries()) {
    if (index < firstStep) continue
    if (early.signal.aborted) break
    const env = handlerEnvironment(deps.environment, {
      deviceId: deps.deviceId,
      ...key,
      start,
      startId,
      isResumed: isResumed && index === firstStep,
      resultFile: paths.result,
      step: step.name,
      traceParent: begun.traceParent,
      parameters: begun.parameters,
      secrets: begun.secrets,
      files: begun.files,
    })
    const end = await runStep(step, {
      path: programs[index] ?? step.program,
      cwd: paths.workFolder,
      env,
      input,
      spool,
      graceMs: deps.graceMs,
      pipeFolder: paths.folder,
      onSeparateStreams: (error) =>
        deps.tell({
          kind: 'disk-trouble',
          what: 'stdout and stderr of a handler cannot share a pipe',
          error,
        }),
      onProgress,
      onStarted: (pid) => recordStarted(deps, begun, step, pid),
      ending: early.signal,
    })
    last = { index, step, end }
    if (asksForReboot(end) || (failureOf(step, end) !== undefined && !step.ignoreFailure)) break
  }
  return last
}

/** Not awaited: the pid only helps to clean up, and the start itself is on disk already. */
function recordStarted(
  { journal, tell }: StepsDeps,
  { key, start }: BegunStart,
  step: Step,
  pid: number,
): void {
  tell({ kind: 'started', ...key, start, pid, step: step.name })
  const startedAt = readProcess(pid)?.startedAt ?? ''
  journal.add({ kind: 'started', ...key, pid, startedAt }, false).catch((error: unknown) => {
    tell({ kind: 'disk-trouble', what: 'the journal cannot be written', error })
  })
}
