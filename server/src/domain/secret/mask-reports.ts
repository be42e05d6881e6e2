// Masks secrets in reports of devices before they are stored. Only the store knows which executions have secrets: it answers
// `needs-mask` (execution/apply-reports.ts), and the report is masked and sent again. From then on that is cached here.

import type { Store } from '../common/ports/store.ts'
import type { DeviceReport, ReportOutcome } from '../execution/device-report.ts'
import type { Masks, SecretRun } from '../execution/ports/masks.ts'
import type { SecretMask } from './secret-mask.ts'

export type MaskDeps = {
  store: Pick<Store, 'getOutputState'>
  /** Resolves once the report is on disk. */
  recordReport: (report: DeviceReport) => Promise<ReportOutcome>
  masks: Masks
}

/** Attempts at the write: the same output may grow between our read and our write. */
const mostTries = 20

/** Shortens statusDetails. Applied after masking: part of a secret would not be recognized. */
export type ShortenDetails = (details: Record<string, string>) => Record<string, string>

export async function recordMasked(
  deps: MaskDeps,
  report: DeviceReport,
  shorten?: ShortenDetails,
): Promise<ReportOutcome> {
  const { ownerNo } = report.device
  const known =
    report.kind === 'start-next'
      ? undefined
      : deps.masks.runOf({ ownerNo, jobExecutionId: report.jobExecutionId })
  let sent = known ? await masked(deps, report, known) : report
  for (let tries = 0; tries < mostTries; tries++) {
    const outcome = await deps.recordReport(shorten ? shortened(sent, shorten) : sent)
    if (outcome.kind !== 'needs-mask') return outcome
    const { jobExecutionId, runId, jobVersion } = outcome
    const run = { ownerNo, runId, jobVersion }
    deps.masks.remember(jobExecutionId, run)
    sent = await masked(deps, report, run)
  }
  throw new Error('the output of an execution changed too often to be masked')
}

async function masked(deps: MaskDeps, report: DeviceReport, run: SecretRun): Promise<DeviceReport> {
  const mask = await deps.masks.of(run)
  const maskedFor = run.runId
  if (mask === undefined) return { ...report, maskedFor }
  switch (report.kind) {
    case 'start-next':
      return { ...report, maskedFor, statusDetails: maskDetails(mask, report.statusDetails) }
    case 'update': {
      const { result } = report
      const content = {
        statusDetails: maskDetails(mask, report.statusDetails),
        result: result === undefined ? undefined : JSON.stringify(mask.maskJson(JSON.parse(result))),
      }
      const ends = report.status !== 'IN_PROGRESS'
      return { ...report, ...content, maskedFor, ...(ends && (await endOfOutput(deps, mask, report))) }
    }
    case 'output':
      return { ...report, maskedFor, masked: await maskOutput(deps, mask, report) }
  }
}

function shortened(report: DeviceReport, shorten: ShortenDetails): DeviceReport {
  if (report.kind === 'output' || report.statusDetails === undefined) return report
  return { ...report, statusDetails: shorten(report.statusDetails) }
}

function maskDetails<Details extends Record<string, string> | undefined>(
  mask: SecretMask,
  details: Details,
): Details {
  return (details && mask.maskJson(details)) as Details
}

type Of<Kind extends DeviceReport['kind']> = Extract<DeviceReport, { kind: Kind }>

async function maskOutput(
  { store, masks }: MaskDeps,
  mask: SecretMask,
  { device: { ownerNo }, jobExecutionId, offset, data }: Of<'output'>,
): Promise<NonNullable<Of<'output'>['masked']>> {
  const { attempt, pieces, received: from, held: sealed } = await stateOf(store, jobExecutionId)
  const start = offset === 'end' ? from : offset
  const fresh = start > from ? new Uint8Array() : data.subarray(from - start)
  const { masked, held } = mask.maskPiece(masks.open(sealed, ownerNo), fresh)
  const received = from + fresh.length
  return { attempt, pieces, from, received, data: masked, held: masks.seal(held, ownerNo) }
}

/** At the end of the output, the held-back part is not a secret. It is lost if the attempt is not ended by its device. */
async function endOfOutput(
  { store, masks }: MaskDeps,
  mask: SecretMask,
  { device: { ownerNo }, jobExecutionId }: Of<'update'>,
): Promise<Pick<Of<'update'>, 'tail'>> {
  const { attempt, pieces, received, held } = await stateOf(store, jobExecutionId)
  return { tail: { attempt, pieces, received, data: mask.maskEnd(masks.open(held, ownerNo)) } }
}

/** For an unknown execution, the state makes no difference. */
async function stateOf(store: MaskDeps['store'], jobExecutionId: number) {
  const found = await store.getOutputState({ jobExecutionId })
  return found ?? { attempt: 0, pieces: 0, received: 0, held: null }
}
