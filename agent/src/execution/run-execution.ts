// One start of one attempt: recorded on disk before it begins, output sent while it runs, outcome on disk before it is
// reported.

import { fetchFiles } from '../files/fetch-files.ts'
import type { FileCache } from '../files/file-cache.ts'
import type { Progress } from '../output/progress-lines.ts'
import { sendOutput } from '../output/send-output.ts'
import type { AskDeps } from '../transport/ask.ts'
import { type BeginDeps, type BegunStart, beginStart, type Start } from './begin-start.ts'
import { EarlyEnd, type EarlyEndDeps } from './early-end.ts'
import { asksForReboot, judgeRun } from './judge-run.ts'
import type { Offered } from './offered.ts'
import { failure, type Outcome, refusal } from './outcome.ts'
import { maxStarts } from './recover.ts'
import { ProgressReporter } from './report-progress.ts'
import { readResult } from './result-file.ts'
import { type LastStep, runSteps, type StepsDeps } from './run-steps.ts'
import { details } from './status-details.ts'

export type RunDeps = AskDeps &
  BeginDeps &
  StepsDeps &
  EarlyEndDeps & {
    cache: FileCache
    /** How often in a row the URLs of one attempt had expired. */
    expiredUrls: { name: string; times: number }
    /** Aborted when a stopping agent no longer waits for answers. */
    closing: AbortSignal
  }

const maxExpired = 5

type RunEnd =
  /** Recorded in the journal, unless the disk failed. */
  | { kind: 'finished'; outcome: Outcome }
  | { kind: 'rebooting' }
  /** The attempt is over for the server. */
  | { kind: 'withdrawn' }
  /** The agent is stopping; the attempt is started, or started again, after its restart. */
  | { kind: 'to-rerun' }

export async function runExecution(deps: RunDeps, start: Start): Promise<RunEnd> {
  const early = new EarlyEnd(deps, start.offered, start.work.timeoutMs)
  try {
    // Not started yet, so not interrupted: the server hands it out again.
    if (early.ending?.kind === 'stopping') return { kind: 'to-rerun' }
    const unfetched = await fetch(deps, start, early)
    if (unfetched) return unfetched
    const begun = await beginStart(deps, start).catch((error: Error) => error)
    if (begun instanceof Error) return { kind: 'finished', outcome: notBegun(deps, begun) }
    try {
      return await run(deps, start, begun, early)
    } finally {
      await begun.spool.close()
    }
  } finally {
    early.close()
  }
}

/** Runs before the journal records the start, so that an agent that is killed meanwhile continues the download. */
async function fetch(
  deps: RunDeps,
  { offered, files, before }: Start,
  early: EarlyEnd,
): Promise<RunEnd | undefined> {
  if (files.length === 0) return undefined
  const key = { jobId: offered.jobId, attempt: offered.attempt, queuedAt: offered.queuedAt }
  const { agentId } = deps.journal
  const reporter = new ProgressReporter(deps, key, () => early.withdraw())
  const onProgress = (percent: number) =>
    reporter.set(details({ agent: agentId, progress: percent, message: 'fetching files' }))
  const fetched = await fetchFiles(deps, files, early.signal, onProgress)
  await reporter.stop()
  if (early.isWithdrawn) return { kind: 'withdrawn' }
  if (early.ending?.kind === 'stopping') return { kind: 'to-rerun' }
  if (fetched.kind === 'ended') return { kind: 'finished', outcome: endedEarly(deps, early) }
  if (fetched.kind === 'expired') return expired(deps, offered)
  if (fetched.kind !== 'failed') return undefined
  const { reason, isWrong } = fetched
  const isRefusal = isWrong && before === undefined
  return { kind: 'finished', outcome: isRefusal ? refusal(reason) : failure(reason, { agent: agentId }) }
}

/** Nothing was started. */
function endedEarly({ journal }: RunDeps, { ending }: EarlyEnd): Outcome {
  const { status, ...verdict } = judgeRun(undefined, ending, false)
  return { status, statusDetails: details({ agent: journal.agentId, ...verdict }) }
}

/** The next start-next returns new URLs. Gives up if the server keeps rejecting its own URLs. */
function expired({ journal, expiredUrls }: RunDeps, { jobId, attempt }: Offered): RunEnd {
  const name = `${jobId}.${attempt}`
  const times = expiredUrls.name === name ? expiredUrls.times + 1 : 1
  Object.assign(expiredUrls, { name, times })
  if (times <= maxExpired) return { kind: 'to-rerun' }
  const reason = 'the server does not accept its own URLs of files'
  return { kind: 'finished', outcome: failure(reason, { agent: journal.agentId }) }
}

async function run(
  deps: RunDeps,
  { offered, work, programs, before }: Start,
  begun: BegunStart,
  early: EarlyEnd,
) {
  const { key, spool } = begun
  const startedAt = performance.now()
  const unwanted = new AbortController()
  const stopSending = AbortSignal.any([deps.closing, unwanted.signal])
  const sending = sendOutput(deps, spool, key, before === undefined, stopSending)
    .then((sent) => sent === 'over' && early.withdraw())
    .catch((error: unknown) => {
      if (!stopSending.aborted) deps.tell({ kind: 'disk-trouble', what: 'output cannot be sent', error })
    })
  const withdraw = () => early.withdraw()
  const reporter = new ProgressReporter(deps, key, withdraw)
  let progress: Progress | undefined
  const common = () => ({
    agent: deps.journal.agentId,
    starts: begun.start > 1 ? begun.start : undefined,
    ...progress,
  })
  if (begun.start > 1) reporter.set(details(common()))
  const onProgress = (latest: Progress) => {
    progress = latest
    reporter.set(details(common()))
  }
  const steps = { steps: work.steps, programs, input: JSON.stringify(offered.document), onProgress }
  const last = await runSteps(deps, begun, steps, early)
  await reporter.stop()
  await spool.end()

  const end = await conclude(deps, begun, last, early, {
    ...common(),
    step: work.steps.length > 1 ? last?.step.name : undefined,
    durationMs: Math.round(performance.now() - startedAt),
  })
  if (end.kind !== 'finished') unwanted.abort()
  await sending
  return end
}

async function conclude(
  deps: RunDeps,
  { key, paths, spool, start }: BegunStart,
  last: LastStep | undefined,
  early: EarlyEnd,
  common: Record<string, string | number | undefined>,
): Promise<RunEnd> {
  const { journal, bootId, tell } = deps
  if (early.isWithdrawn) return { kind: 'withdrawn' }
  const entry = journal.get(key)
  if (early.ending?.kind === 'stopping' && entry?.onInterrupt === 'rerun') return { kind: 'to-rerun' }
  if (early.ending === undefined && last && asksForReboot(last.end) && start < maxStarts) {
    await spool.sync()
    await journal.add({ kind: 'rebooting', ...key, bootId, step: last.index }, true)
    return { kind: 'rebooting' }
  }
  const { status, ...verdict } = judgeRun(last, early.ending, start === 1 && last?.index === 0, entry?.waited)
  // An attempt that is started again has no result yet.
  const { problem, ...given } = verdict.retryAfterSeconds === undefined ? await readResult(paths.result) : {}
  const outputCut = spool.isCut ? spool.length : undefined
  const statusDetails = details({ ...common, ...verdict, resultProblem: problem, outputCut })
  const outcome: Outcome = { status, statusDetails, ...given }
  await journal.add({ kind: 'finished', ...key, outcome }, true).catch((error: unknown) => {
    tell({ kind: 'disk-trouble', what: 'the journal cannot be written', error })
  })
  tell({ kind: 'ended', ...key, status, reason: statusDetails.reason })
  return { kind: 'finished', outcome }
}

function notBegun({ tell, journal }: RunDeps, error: Error): Outcome {
  tell({ kind: 'disk-trouble', what: 'the journal cannot be written', error })
  return failure(`not started, because the agent cannot write to its disk: ${error.message}`, {
    agent: journal.agentId,
  })
}
