// What stands in the journal, line by line, and what the lines come to.

import type { Outcome } from './outcome.ts'
import { type AttemptKey, isAnother, parseObject } from './transport.ts'

export type JournalRecord =
  /** The first line. Executions that this agent has begun carry its id in their statusDetails. */
  | { kind: 'agent'; agentId: string }
  /** Is about to be started: on disk before the start. */
  | ({
      kind: 'starting'
      start: number
      startId: string
      bootId: string
      onInterrupt: 'report' | 'rerun'
    } & AttemptKey)
  | ({ kind: 'started'; pid: number; startedAt: string } & AttemptKey)
  /** Goes on with this step after the next boot. */
  | ({ kind: 'rebooting'; bootId: string; step: number } & AttemptKey)
  | ({ kind: 'finished'; outcome: Outcome } & AttemptKey)
  /** The server has its outcome, or wants none. */
  | ({ kind: 'settled' } & AttemptKey)

export type Entry = AttemptKey & {
  phase: 'started' | 'rebooting' | 'finished' | 'settled'
  start: number
  startId: string
  /** Of its last start; of the boot it waits to be over, when it is rebooting. */
  bootId: string
  onInterrupt: 'report' | 'rerun'
  /** The leaders of the groups of its last start, one for each step. */
  processes: { pid: number; startedAt: string }[]
  step: number
  outcome: Outcome | undefined
}

export function keyOf({ jobId, attempt }: AttemptKey): string {
  return `${jobId}.${attempt}`
}

/** The entry after the record; undefined for the first line of the journal, which is about none. */
export function afterRecord(before: Entry | undefined, record: JournalRecord): Entry | undefined {
  if (record.kind === 'agent') return before
  const { jobId, attempt } = record
  const known = before && !isAnother(before, record) ? before : undefined
  const queuedAt = record.queuedAt ?? known?.queuedAt
  const entry: Entry = known
    ? { ...known, queuedAt }
    : {
        jobId,
        attempt,
        queuedAt,
        phase: 'started',
        start: 0,
        startId: '',
        bootId: '',
        onInterrupt: 'report',
        processes: [],
        step: 0,
        outcome: undefined,
      }
  switch (record.kind) {
    case 'starting': {
      const { start, startId, bootId, onInterrupt } = record
      return { ...entry, phase: 'started', start, startId, bootId, onInterrupt, processes: [] }
    }
    case 'started': {
      const { pid, startedAt } = record
      return { ...entry, processes: [...entry.processes, { pid, startedAt }] }
    }
    case 'rebooting':
      return { ...entry, phase: 'rebooting', bootId: record.bootId, step: record.step }
    case 'finished':
      return { ...entry, phase: 'finished', outcome: record.outcome }
    case 'settled':
      return { ...entry, phase: 'settled' }
  }
}

/** As few records as lead to the entry. Of what is settled the result is not needed any more. */
export function recordsOf(entry: Entry): JournalRecord[] {
  const { jobId, attempt, queuedAt, phase, start, startId, bootId, onInterrupt, processes, step, outcome } =
    entry
  const key = { jobId, attempt, queuedAt }
  const { result: _, ...short } = outcome ?? { status: 'FAILED', statusDetails: {} }
  return [
    { kind: 'starting', ...key, start, startId, bootId, onInterrupt },
    ...processes.map((process) => ({ kind: 'started' as const, ...key, ...process })),
    ...(phase === 'rebooting' ? [{ kind: 'rebooting' as const, ...key, bootId, step }] : []),
    ...(outcome
      ? [{ kind: 'finished' as const, ...key, outcome: phase === 'settled' ? short : outcome }]
      : []),
    ...(phase === 'settled' ? [{ kind: 'settled' as const, ...key }] : []),
  ]
}

export type ReadJournal =
  | { kind: 'good'; agentId: string; records: JournalRecord[]; goodBytes: number }
  /** A line other than the last makes no sense: whatever stood there is lost. */
  | { kind: 'damaged' }

/**
 * The last line may be torn: it was being written when the power went, and nothing was done on its account. Any
 * other line was on disk once, and so something may have been started that is not known here any more.
 */
export function readRecords(bytes: Buffer): ReadJournal {
  // One character a byte, so that lengths are right whatever stands in it.
  const lines = bytes.toString('latin1').split('\n')
  const torn = lines.pop() ?? ''
  const parsed = lines.map((line) => parseObject(Buffer.from(line, 'latin1').toString()))
  // A torn write may also have left its end, with the newline, but not its middle.
  if (parsed.length > 1 && parsed.at(-1) === undefined && torn === '') parsed.pop()
  const [first, ...records] = parsed
  if (typeof first?.agentId !== 'string' || records.includes(undefined)) return { kind: 'damaged' }
  const goodBytes = lines.slice(0, parsed.length).reduce((sum, line) => sum + line.length + 1, 0)
  return { kind: 'good', agentId: first.agentId, records: records as JournalRecord[], goodBytes }
}
