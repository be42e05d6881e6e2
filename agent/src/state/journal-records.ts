// The records of the journal, one per line, and the entries that they add up to.

import type { Outcome } from '../execution/outcome.ts'
import { parseObject } from '../transport/transport.ts'
import { type AttemptKey, isAnother } from './attempt-key.ts'

export type JournalRecord =
  /** The first line. Executions that this agent started carry its id in their statusDetails. */
  | { kind: 'agent'; agentId: string }
  /** Written to disk before the start. */
  | ({
      kind: 'starting'
      start: number
      startId: string
      bootId: string
      onInterrupt: 'report' | 'rerun'
      /** The retry delay after the last "not now", in seconds. */
      waited?: number | undefined
    } & AttemptKey)
  | ({ kind: 'started'; pid: number; startedAt: string } & AttemptKey)
  /** Resumes with this step after the next boot. */
  | ({ kind: 'rebooting'; bootId: string; step: number } & AttemptKey)
  | ({ kind: 'finished'; outcome: Outcome } & AttemptKey)
  /** The server has the outcome, or does not need it. */
  | ({ kind: 'settled' } & AttemptKey)

export type Entry = AttemptKey & {
  phase: 'started' | 'rebooting' | 'finished' | 'settled'
  start: number
  startId: string
  /** The boot of its last start; while rebooting, the boot that must end first. */
  bootId: string
  onInterrupt: 'report' | 'rerun'
  /** Process group leaders of its last start, one per step. */
  processes: { pid: number; startedAt: string }[]
  step: number
  outcome: Outcome | undefined
  waited?: number | undefined
}

export function keyOf({ jobId, attempt }: AttemptKey): string {
  return `${jobId}.${attempt}`
}

/** The entry after the record; the first line of the journal belongs to no entry. */
export function afterRecord(before: Entry | undefined, record: JournalRecord): Entry | undefined {
  if (record.kind === 'agent') return before
  const { jobId, attempt } = record
  const existing = before && !isAnother(before, record) ? before : undefined
  const queuedAt = record.queuedAt ?? existing?.queuedAt
  const entry: Entry = existing
    ? { ...existing, queuedAt }
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
      const { start, startId, bootId, onInterrupt, waited } = record
      const begun = { start, startId, bootId, onInterrupt, waited, processes: [] }
      // Drops the "not now" outcome of an attempt that is started again.
      return { ...entry, ...begun, phase: 'started', outcome: undefined }
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

/** The fewest records that produce the entry. A settled entry no longer needs its result. */
export function recordsOf(entry: Entry): JournalRecord[] {
  const { jobId, attempt, queuedAt, phase, start, startId, bootId, onInterrupt, processes } = entry
  const { step, outcome, waited } = entry
  const key = { jobId, attempt, queuedAt }
  const { result: _, ...short } = outcome ?? { status: 'FAILED', statusDetails: {} }
  return [
    { kind: 'starting', ...key, start, startId, bootId, onInterrupt, waited },
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
  /** A line other than the last cannot be parsed. */
  | { kind: 'damaged' }

/**
 * The last line may be torn by a power cut during its write; nothing was started because of it. Any other line was once
 * on disk, so if one is damaged, something may have been started that the journal no longer shows.
 */
export function readRecords(bytes: Buffer): ReadJournal {
  // One character per byte, so that lengths are right for any content.
  const lines = bytes.toString('latin1').split('\n')
  const torn = lines.pop() ?? ''
  const parsed = lines.map((line) => parseObject(Buffer.from(line, 'latin1').toString()))
  // A torn write may also have stored its end, with the newline, but not its middle.
  if (parsed.length > 1 && parsed.at(-1) === undefined && torn === '') parsed.pop()
  const [first, ...records] = parsed
  if (typeof first?.agentId !== 'string' || records.includes(undefined)) return { kind: 'damaged' }
  const goodBytes = lines.slice(0, parsed.length).reduce((sum, line) => sum + line.length + 1, 0)
  return { kind: 'good', agentId: first.agentId, records: records as JournalRecord[], goodBytes }
}
