// The progress of a run as text.

import { type EndedExecution, type ExecState, isEnd, type Run } from '@jobcast/client'
import { execStates } from '../flags/states.ts'
import { elapsedText } from '../flags/wait-time.ts'
import { type Paint, paintState } from './colors.ts'
import { plainText, textWidth } from './text-width.ts'

export type Progress = {
  update(run: Run): void
  /** A message above the progress. */
  say(text: string): void
  /** A line of data, on standard output. */
  line(text: string): void
  /** May be called twice. */
  close(): void
}

const [maxBar, minBar] = [30, 5]

export function countsText(counts: Run['counts'], paint: Paint): string {
  return execStates
    .filter((state) => counts[state] > 0)
    .map((state) => paintState(paint, state, `${counts[state]} ${state}`))
    .join(' ')
}

function endedOf({ counts, total }: Run): number {
  return execStates.reduce((ended, state) => (isEnd(state) ? ended : ended - counts[state]), total)
}

/** restart #12  6/10  5 SUCCEEDED 1 FAILED 1 IN_PROGRESS 3 PENDING  0:12 */
export function progressLine(run: Run, elapsedMs: number, paint: Paint): string {
  return `${nameOf(run)}  ${numbersOf(run, elapsedMs, paint)}`
}

/** The same with a bar, which fills the available width and is left out if there is none. */
export function progressBar(run: Run, elapsedMs: number, paint: Paint, columns: number): string {
  const numbers = numbersOf(run, elapsedMs, paint)
  const room = columns - textWidth(`${nameOf(run)}   ${numbers}`)
  if (room < minBar) return progressLine(run, elapsedMs, paint)
  return `${nameOf(run)} ${barOf(run, Math.min(room, maxBar), paint)}  ${numbers}`
}

export function nameOf({ jobName, runId }: Pick<Run, 'jobName' | 'runId'>): string {
  return `${plainText(jobName)} #${runId}`
}

/** kiosk-7: FAILED: exit code 1 (execution 34) */
export function unsuccessfulLine(execution: EndedExecution, paint: Paint): string {
  const { deviceId, execState, attempt, jobExecutionId } = execution
  const reason = reasonOf(execution)
  const attempts = attempt > 1 ? `, attempt ${attempt}` : ''
  return `${plainText(deviceId)}: ${paintState(paint, execState)}${reason && `: ${reason}`} (execution ${jobExecutionId}${attempts})`
}

/** The reason that the device reported; without one, its other details, or what the state means. */
export function reasonOf({
  execState,
  statusDetails,
}: Pick<EndedExecution, 'execState' | 'statusDetails'>): string {
  const { reason, ...others } = statusDetails
  const details = Object.entries(others).map(([name, value]) => `${name} ${value}`)
  return plainText(reason || details.join(', ')) || (meaning[execState] ?? '')
}

const meaning: Partial<Record<ExecState, string>> = {
  TIMED_OUT: 'exceeded the time limit of its job',
  EXPIRED: 'not started before it expired',
}

function numbersOf(run: Run, elapsedMs: number, paint: Paint): string {
  const { counts, total } = run
  return `${endedOf(run)}/${total}  ${countsText(counts, paint)}  ${elapsedText(elapsedMs)}`
}

/** Draws succeeded, then unsuccessful, then unfinished executions. */
function barOf(run: Run, width: number, paint: Paint): string {
  const { counts, total } = run
  const cells = (number: number) => Math.floor((number / Math.max(1, total)) * width)
  const ended = cells(endedOf(run))
  const succeeded = Math.min(ended, cells(counts.SUCCEEDED))
  const filled = paint('green', '█'.repeat(succeeded)) + paint('red', '█'.repeat(ended - succeeded))
  return filled + paint('dim', '░'.repeat(width - ended))
}
