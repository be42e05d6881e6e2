// Runs one program until it and everything it forked have ended.

import type { Step } from '../document/step.ts'
import type { OutputSpool } from '../output/output-spool.ts'
import { type Progress, ProgressLines } from '../output/progress-lines.ts'
import { PipeReader } from '../process/pipe-reader.ts'
import { ProcessGroup } from '../process/process-group.ts'
import { openSharedPipe, type SharedPipe } from '../process/shared-pipe.ts'

export type StepEnd =
  | { kind: 'exited'; exitCode: number | null; signal: NodeJS.Signals | null; stderrLines: number }
  /** `isFinal`: another try would fail in the same way. */
  | { kind: 'not-started'; reason: string; isFinal: boolean }

type StepRun = {
  /** The handler's path, or the command's program. */
  path: string
  cwd: string
  env: NodeJS.ProcessEnv
  /** The document, for stdin. */
  input: string
  spool: OutputSpool
  /** Time between SIGTERM and SIGKILL for leftover processes. */
  graceMs: number
  /** Folder for the pipe, with access for this user only. */
  pipeFolder: string
  /** Called when stdout and stderr get separate pipes, so that their order may be lost. */
  onSeparateStreams: (error: unknown) => void
  onStarted: (pid: number) => void
  onProgress: (progress: Progress) => void
  /** Aborted to end the step early; the reason is an Ending. */
  ending: AbortSignal
}

/** Why a step is ended early. */
export type Ending = {
  kind: 'canceled' | 'withdrawn' | 'time-limit' | 'stopping'
  graceMs: number
}

export async function runStep(step: Step, run: StepRun): Promise<StepEnd> {
  const { path, cwd, env, input, spool, ending } = run
  let group: ProcessGroup
  try {
    group = await ProcessGroup.start(path, {
      args: step.args,
      cwd,
      env,
      input,
      pipe: await openPipe(step, run),
    })
  } catch (error) {
    return notStarted(step, error as NodeJS.ErrnoException)
  }
  run.onStarted(group.pid)
  const progress = new ProgressLines(run.onProgress)
  let stderrLines = 0
  const stdout = new PipeReader(group.stdout, (chunk) => {
    progress.push(chunk)
    return spool.append(chunk)
  })
  const stderr =
    group.stderr &&
    new PipeReader(group.stderr, (chunk) => {
      stderrLines += countLines(chunk)
      return spool.append(chunk)
    })
  const end = () => group.end((ending.reason as Ending).graceMs)
  ending.addEventListener('abort', end)
  if (ending.aborted) end()
  const exit = await group.gone(run.graceMs)
  ending.removeEventListener('abort', end)
  await Promise.all([stdout.finish(), stderr?.finish()])
  progress.end()
  return { kind: 'exited', ...exit, stderrLines }
}

/** A step whose lines on stderr are counted needs a pipe for each stream. */
async function openPipe({ allowStdErr }: Step, run: StepRun): Promise<SharedPipe | undefined> {
  if (allowStdErr !== undefined) return undefined
  return openSharedPipe(run.pipeFolder).catch((error: unknown) => {
    run.onSeparateStreams(error)
    return undefined
  })
}

const newline = 0x0a

function countLines(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++
  return lines
}

// Error codes of a program that cannot run on this device.
const finalReasons: Record<string, string> = {
  ENOENT: 'it, or the interpreter in its first line, does not exist',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOEXEC: 'it is not a program for this machine',
  E2BIG: 'its arguments are too long',
}

function notStarted({ runs, program }: Step, { code = '', message }: NodeJS.ErrnoException): StepEnd {
  const reason = `the ${runs} "${program}" cannot be started: ${finalReasons[code] ?? message}`
  return { kind: 'not-started', reason, isFinal: code in finalReasons }
}
