// What must be in place before a program is started: its folder, its output spool, and a durable journal record of the
// start.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Work } from '../document/plan-work.ts'
import type { Tell } from '../events.ts'
import type { FileCache } from '../files/file-cache.ts'
import type { WantedFile } from '../files/wanted-files.ts'
import { OutputSpool } from '../output/output-spool.ts'
import type { AttemptKey } from '../state/attempt-key.ts'
import type { Journal } from '../state/journal.ts'
import type { Entry } from '../state/journal-records.ts'
import type { AttemptPaths, StateFolder } from '../state/state-folder.ts'
import type { Offered } from './offered.ts'

export type BeginDeps = {
  journal: Journal
  state: StateFolder
  cache: FileCache
  bootId: string
  maxOutputBytes: number
  tell: Tell
}

/** What to start: a program for each step, and the journal's entry of an earlier start. */
export type Start = {
  offered: Offered
  work: Work
  programs: string[]
  /** Fetched before the start. */
  files: WantedFile[]
  before: Entry | undefined
  /** The retry delay after the last "not now", in seconds. */
  waited: number | undefined
}

export type BegunStart = {
  key: AttemptKey
  paths: AttemptPaths
  spool: OutputSpool
  /** 1 for the first start of the attempt. */
  start: number
  startId: string
  /** It resumes after a reboot that it requested, with this step. */
  isResumed: boolean
  firstStep: number
  traceParent: string | undefined
  parameters: Record<string, unknown> | undefined
  secrets: Record<string, unknown> | undefined
  /** Paths of the files, by their names. */
  files: Record<string, string>
}

/** If this rejects, nothing may be started. */
export async function beginStart(
  { journal, state, cache, bootId, maxOutputBytes, tell }: BeginDeps,
  { offered, work, files: wanted, before, waited }: Start,
): Promise<BegunStart> {
  const key = { jobId: offered.jobId, attempt: offered.attempt, queuedAt: offered.queuedAt }
  const paths = await state.prepare(key)
  const files = await placeFiles(cache, wanted, paths)
  const spool = await openSpool(paths, maxOutputBytes, tell)
  const start = (before?.start ?? 0) + 1
  const startId = randomUUID()
  const { onInterrupt } = work
  try {
    await journal.add({ kind: 'starting', ...key, start, startId, bootId, onInterrupt, waited }, true)
  } catch (error) {
    await spool.close()
    throw error
  }
  const isResumed = before?.phase === 'rebooting'
  const firstStep = isResumed ? before.step : 0
  const { traceParent, parameters, secrets } = offered
  return {
    ...{ key, paths, spool, start, startId, isResumed, firstStep },
    ...{ traceParent, parameters, secrets, files },
  }
}

/** Puts the files into the handler's working folder, under their names. */
async function placeFiles(
  cache: FileCache,
  wanted: WantedFile[],
  { workFolder }: AttemptPaths,
): Promise<Record<string, string>> {
  const paths = wanted.map(({ fileName }) => [fileName, join(workFolder, fileName)] as const)
  for (const [index, { sha256 }] of wanted.entries()) await cache.place(sha256, paths[index]?.[1] ?? '')
  return Object.fromEntries(paths)
}

export function openSpool({ output }: AttemptPaths, maxBytes: number, tell: Tell): Promise<OutputSpool> {
  const onFailure = (error: unknown) =>
    tell({ kind: 'disk-trouble', what: 'output cannot be stored and is truncated', error })
  return OutputSpool.open(output, maxBytes, onFailure)
}
