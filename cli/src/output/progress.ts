// How far a run is, in words.

import { type EndedExecution, type ExecState, isEnd, type Run } from '@jobcast/client'
import { execStates } from '../flags/states.ts'
import { elapsedText } from '../flags/wait-time.ts'
import { type Paint, paintState } from './colors.ts'
import { plainText, textWidth } from './text-width.ts'

export type Progress = {
  update(run: Run): void
  /** A whole line that stays. */
  say(text: string): void
  /** The same on standard output. */
  line(text: string): void
  /** May be called twice. */
  close(): void
}

const [widestBar, narrowestBar] = [30, 5]

export function countsText(counts: Run['counts'], paint: Paint): string {
  return execStates
    .filter((state) => counts[state] > 0)
    .map((state) => paintState(paint, state, `${counts[state]} ${state}`))
    .join(' ')
}

export function endedOf({ counts, total }: Run): number {
  return execStates.reduce((rest, state) => (isEnd(state) ? rest : rest - counts[state]), total)
}

/** restart #12  6/10  5 SUCCEEDED 1 FAILED 1 IN_PROGRESS 3 PENDING  0:12 */
export function progressLine(run: Run, elapsedMs: number, paint: Paint): string {
  return `${nameOf(run)}  ${numbersOf(run, elapsedMs, paint)}`
}

/** The same with a bar, which takes what room there is; where there is none it is left out. */
export function progressBar(run: Run, elapsedMs: number, paint: Paint, columns: number): string {
  const numbers = numbersOf(run, elapsedMs, paint)
  const room = columns - textWidth(`${nameOf(run)}   ${numbers}`)
  if (room < narrowestBar) return progressLine(run, elapsedMs, paint)
  return `${nameOf(run)} ${barOf(run, Math.min(room, widestBar), paint)}  ${numbers}`
}

export function nameOf({ jobName, runId }: Pick<Run, 'jobName' | 'runId'>): string {
  return `${plainText(jobName)} #${runId}`
}

/** kiosk-7: FAILED: exit code 1 (execution 34) */
export function failureLine(execution: EndedExecution, paint: Paint): string {
  const { deviceId, execState, attempt, jobExecutionId } = execution
  const reason = reasonOf(execution)
  const attempts = attempt > 1 ? `, attempt ${attempt}` : ''
  return `${plainText(deviceId)}: ${paintState(paint, execState)}${reason && `: ${reason}`} (execution ${jobExecutionId}${attempts})`
}

/** What the device said, its `reason` first; where nobody said anything, what the state means. */
export function reasonOf({
  execState,
  statusDetails,
}: Pick<EndedExecution, 'execState' | 'statusDetails'>): string {
  const { reason, ...rest } = statusDetails
  const others = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  const said = [...(reason ? [reason] : []), ...others].join(', ')
  return plainText(said) || (meaning[execState] ?? '')
}

const meaning: Partial<Record<ExecState, string>> = {
  TIMED_OUT: 'took longer than its job allows',
  EXPIRED: 'waited longer than its job allows',
}

function numbersOf(run: Run, elapsedMs: number, paint: Paint): string {
  const { counts, total } = run
  return `${endedOf(run)}/${total}  ${countsText(counts, paint)}  ${elapsedText(elapsedMs)}`
}

/** Succeeded, then ended otherwise, then what is left. */
function barOf(run: Run, width: number, paint: Paint): string {
  const { counts, total } = run
  const cells = (number: number) => Math.floor((number / Math.max(1, total)) * width)
  const ended = cells(endedOf(run))
  const good = Math.min(ended, cells(counts.SUCCEEDED))
  const filled = paint('green', '█'.repeat(good)) + paint('red', '█'.repeat(ended - good))
  return filled + paint('dim', '░'.repeat(width - ended))
}
