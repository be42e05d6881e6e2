// A run on targets, and its plan: what it would do if it were created now.

import { ApiError, type NewRun, type OnMissing, parseInstant, type RunPlan } from '@jobcast/contract'
import type { Selector } from '@jobcast/contract/selector'
import { type Caller, requireScope } from '../access/caller.ts'
import { notFound } from '../common/not-found.ts'
import { readWritten } from '../common/ports/storage-errors.ts'
import { parseTraceParent } from '../common/trace-parent.ts'
import { getJobVersion } from '../job/job-versions.ts'
import type { StoredJobVersion } from '../job/ports/jobs.ts'
import { type AskedPlan, planLarge, planRollout } from '../rollout/plan-rollout.ts'
import { waveParts } from '../rollout/rollout-progress.ts'
import {
  findGateProblems,
  requireGate,
  requireRollout,
  requireSelectors,
} from '../rollout/rollout-selectors.ts'
import {
  digestOf,
  launchedAtOnce,
  readTargets,
  type SelectDeps,
  type Selected,
  selectDevices,
  whereOf,
} from '../selector/select-devices.ts'
import { requireWindow } from '../window/window.ts'
import { type HoldDeps, holdIfRevoked } from './hold-run.ts'
import { type LargeRunDeps, launchLargeRun } from './launch-large-run.ts'
import { heldAsNow, toRunJob } from './launch-run.ts'
import { type PlanDocumentDeps, planDocument } from './plan-document.ts'
import type { RunRequest, StoredRun } from './ports/runs.ts'
import type { RunValues, TriggerPlan } from './ports/triggers.ts'
import { requireAttributes, requireAttributesOf, requireValues, sealValues } from './run-values.ts'
import { findEarlierRun, launchRun } from './trigger-job.ts'

export type CreateRunDeps = LargeRunDeps & SelectDeps & PlanDocumentDeps & HoldDeps & { now: () => number }

const planValidMs = 10 * 60 * 1000
const sampleSize = 20

export async function createRun(
  deps: CreateRunDeps,
  caller: Caller,
  request: NewRun,
  idempotencyKey?: string,
  traceParent?: string,
): Promise<{ run: StoredRun; isReplayed: boolean }> {
  const { rollout, approval, startAt, window, ignoreWindows } = request
  const isPlain = !rollout && !approval && !startAt && !window && !ignoreWindows
  const release = isPlain ? [] : [{ rollout, approval, startAt, window, ignoreWindows }]
  const values = valuesAsked(deps, request)
  const asked = ['run', request.jobName, request.targets, request.note ?? null, ...release, ...values]
  const earlier = await findEarlierRun(deps, caller, asked, idempotencyKey)
  const { runId } = earlier ?? (await launch(deps, caller, request, { asked, idempotencyKey, traceParent }))
  if (startAt !== undefined && earlier === undefined) await holdIfRevoked(deps, caller, runId)
  const made = await readWritten(deps.store.getRun({ ownerNo: caller.ownerNo, runId }))
  if (made === undefined) throw new Error(`run ${runId} was made and cannot be read`)
  return { run: made, isReplayed: earlier !== undefined }
}

/** What calls from before there were versions and parameters did not ask for. */
function valuesAsked({ secretBox }: CreateRunDeps, { version, parameters, onMissing }: NewRun): unknown[] {
  const isAsked = version !== undefined || parameters !== undefined || onMissing !== undefined
  // What is asked for is stored as a hash, by which a short secret could be found out.
  const print = parameters && secretBox.fingerprint(JSON.stringify(parameters))
  return isAsked ? [{ version, print, onMissing }] : []
}

type LaunchOptions = {
  asked: unknown[]
  idempotencyKey: string | undefined
  traceParent: string | undefined
}

async function launch(
  deps: CreateRunDeps,
  caller: Caller,
  { jobName, targets, planId, version, ...rest }: NewRun,
  { asked, idempotencyKey, traceParent }: LaunchOptions,
): Promise<{ runId: number }> {
  const note = rest.note ?? null
  const job = await requireJob(deps, caller, jobName, version)
  const window = askedWindow(caller, job, rest)
  if (window) await requireWindow(deps, caller, window)
  const valued = await valuesOf(deps, caller, job, rest)
  const pinned =
    version === undefined && !valued ? {} : { pinned: toRunJob(job, job), ...(valued && { values: valued }) }
  const where = whereOf(targets)
  const release = await askedPlan(deps, caller, job, rest)
  if (rest.rollout === undefined && job.rollout) await requireGate(deps, caller, job.rollout)
  const launch = { jobName, retryOf: null, asked, window, ...pinned }
  if (where === undefined) {
    const listed = targets.deviceIds ?? []
    checkPlan(deps, planId, job, digestOfList(listed))
    const deviceIds = await requireAttributes(deps, caller.ownerNo, job, listed, rest.onMissing)
    const request = note === null ? undefined : { where: null, matched: null, note, rollbackOf: null }
    const planned = await planSmall(deps, caller, deviceIds, release)
    const wanted = { ...launch, ...planned, ...(request && { request }) }
    return launchRun(deps, caller, wanted, idempotencyKey, traceParent)
  }
  const selected = await selectDevices(deps, caller, await readTargets(deps, caller, where))
  if (selected.total === 0) throw new ApiError('J-504')
  checkPlan(deps, planId, job, selected.digest)
  const { total: matched } = selected
  const { deviceIds, deviceNos } = await withAttributes(deps, caller, job, selected, rest.onMissing)
  const request: RunRequest = { where, matched, note, rollbackOf: null }
  if (deviceIds === undefined) {
    const options = { ...(release && { plan: release }), ...(window !== undefined && { window }) }
    const wanted = { jobName, asked, request, deviceNos, ...pinned, ...options }
    const { runId } = await launchLargeRun(deps, caller, wanted, idempotencyKey)
    // Without a span of its own: the run counts as part of the caller's.
    if (traceParent !== undefined && parseTraceParent(traceParent) !== undefined)
      await deps.traces?.keep({ ownerNo: caller.ownerNo, runId, traceParent })
    return { runId }
  }
  const planned = await planSmall(deps, caller, deviceIds, release)
  return launchRun(deps, caller, { ...launch, ...planned, request }, idempotencyKey, traceParent)
}

/** Null: at any time, undefined: as its job says. The store looks again whether there is such a window (J-311). */
function askedWindow(
  caller: Caller,
  job: StoredJobVersion,
  { window, ignoreWindows, note }: Pick<NewRun, 'window' | 'ignoreWindows' | 'note'>,
): string | null | undefined {
  // Another window than that of its job is a way around it.
  const isReplaced = window !== undefined && job.window !== undefined && window !== job.window
  if (ignoreWindows || isReplaced) requireScope(caller, 'MANAGE')
  if (!ignoreWindows) return window
  const invalid = (field: string, detail: string) => new ApiError('J-500', { field, detail })
  if (window !== undefined) throw invalid('window', 'Either window or ignoreWindows can be given.')
  if (!note?.trim()) throw invalid('note', 'ignoreWindows needs a note that says why.')
  return null
}

/** Undefined: the job needs none, and none are given. Throws J-500 at the parameter. */
export async function valuesOf(
  { secretBox }: CreateRunDeps,
  { ownerNo }: Caller,
  job: StoredJobVersion,
  { parameters }: Pick<NewRun, 'parameters'>,
): Promise<RunValues | undefined> {
  if (!job.parameters && !job.hasPlaceholders && parameters === undefined) return undefined
  return sealValues(secretBox, ownerNo, job.parameters, await requireValues(ownerNo, job, parameters))
}

/** Those of the selected devices that have what the document needs. */
export async function withAttributes(
  deps: CreateRunDeps,
  { ownerNo }: Caller,
  job: StoredJobVersion,
  { deviceIds, deviceNos }: Pick<Selected, 'deviceIds' | 'deviceNos'>,
  onMissing: OnMissing | undefined,
): Promise<Pick<Selected, 'deviceIds' | 'deviceNos'>> {
  if (deviceIds === undefined) {
    const left = await requireAttributesOf(deps, ownerNo, job, deviceNos, onMissing)
    return { deviceIds, deviceNos: left }
  }
  const left = await requireAttributes(deps, ownerNo, job, deviceIds, onMissing)
  return { deviceIds: left, deviceNos }
}

/** How the call wants it released, with what it leaves to the job; undefined: all of it. */
async function askedPlan(
  deps: CreateRunDeps,
  caller: Caller,
  job: StoredJobVersion,
  { rollout, approval, ...rest }: Pick<NewRun, 'rollout' | 'approval' | 'startAt'>,
  require = requireRollout,
): Promise<AskedPlan | undefined> {
  if (rollout) await require(deps, caller, rollout)
  const startAt = readStart(deps, rest.startAt)
  if (rollout === undefined && approval !== true && startAt === undefined) return undefined
  const fitsAny = rollout === undefined
  const begin = startAt === undefined ? {} : { startAt }
  return { rollout: rollout ?? job.rollout ?? {}, approval: approval === true, fitsAny, ...begin }
}

/** Clocks differ: what has just passed is now. */
const toleratedMs = 60_000
const longestWaitMs = 366 * 24 * 60 * 60_000

function readStart({ now }: CreateRunDeps, startAt: string | undefined): number | undefined {
  if (startAt === undefined) return undefined
  const at = parseInstant(startAt)
  const wait = at - now()
  if (wait < -toleratedMs || wait > longestWaitMs) {
    const detail = 'startAt must be in the future, at most a year from now.'
    throw new ApiError('J-500', { field: 'startAt', detail })
  }
  return wait > 0 ? at : undefined
}

export async function planSmall(
  deps: CreateRunDeps,
  { ownerNo }: Pick<Caller, 'ownerNo'>,
  deviceIds: string[],
  release: AskedPlan | undefined,
): Promise<{ deviceIds: string[]; plan?: TriggerPlan }> {
  if (release === undefined) return { deviceIds }
  const { rollout, approval, startAt } = release
  const begin = startAt === undefined ? {} : { startAt }
  const planned = await planRollout(deps, ownerNo, [...new Set(deviceIds)], release)
  const plan = { jobVersion: null, rollout, approval, sizes: planned.sizes, ...begin }
  return { deviceIds: planned.deviceIds, plan }
}

/** Refused as the run itself would be, but for what the plan can tell. */
export async function planRun(
  deps: CreateRunDeps,
  caller: Caller,
  { jobName, targets, version, ...rest }: NewRun,
): Promise<RunPlan> {
  const job = await requireJob(deps, caller, jobName, version)
  const window = askedWindow(caller, job, rest)
  if (window) await requireWindow(deps, caller, window)
  const where = whereOf(targets)
  const found =
    where === undefined
      ? await planList(deps, caller, targets.deviceIds ?? [])
      : await planSelection(deps, caller, await readTargets(deps, caller, where))
  const { total, online, busy, digest, unknownNames } = found
  const problems = unknownNames.map((name) => `No device has an attribute ${name}.`)
  if (total === 0) problems.push('The selector matches no device.')
  const { document, problems: more } = await planDocument(deps, caller, job, rest, found)
  problems.push(...more, ...(await findGateProblems(deps, caller, rest.rollout ?? job.rollout ?? {})))
  return {
    planId: toPlanId(deps.now() + planValidMs, job, digest),
    total,
    online,
    offline: total - online,
    busy,
    waves: total === 0 ? [] : await planWavesOf(deps, caller, job, rest, found),
    document,
    problems,
  }
}

/** In the order of release; of very many devices without samples. */
async function planWavesOf(
  deps: CreateRunDeps,
  caller: Caller,
  job: StoredJobVersion,
  rest: Pick<NewRun, 'rollout' | 'approval' | 'startAt'>,
  { total, sample, deviceIds, deviceNos }: Found,
): Promise<RunPlan['waves']> {
  const asked = await askedPlan(deps, caller, job, rest, requireSelectors)
  const release = asked ?? (job.rollout && { rollout: job.rollout, fitsAny: true })
  if (release === undefined) return [{ size: total, sample }]
  if (deviceIds === undefined) {
    const { sizes } = await planLarge(deps, caller, deviceNos ?? new Int32Array(), release)
    return sizes.map((size) => ({ size, sample: [] }))
  }
  const planned = await planRollout(deps, caller.ownerNo, deviceIds, release)
  return waveParts(planned.sizes).map(({ from, to }) => ({
    size: to - from,
    sample: planned.deviceIds.slice(from, Math.min(to, from + sampleSize)),
  }))
}

type Found = Pick<Selected, 'total' | 'sample' | 'digest' | 'deviceIds'> & {
  deviceNos?: Int32Array
  online: number
  busy: number
  unknownNames: string[]
}

async function planSelection(deps: CreateRunDeps, caller: Caller, where: Selector): Promise<Found> {
  const { total, sample, digest, deviceIds, deviceNos } = await selectDevices(deps, caller, where)
  const { online, busy, unknownNames } = await deps.store.countDevices({ ownerNo: caller.ownerNo, where })
  return { total, sample, digest, deviceIds, deviceNos, online: Math.min(online, total), busy, unknownNames }
}

async function planList({ store }: CreateRunDeps, { ownerNo }: Caller, deviceIds: string[]): Promise<Found> {
  const distinct = [...new Set(deviceIds)]
  const found = { online: 0, busy: 0, total: 0 }
  for (let start = 0; start < distinct.length; start += launchedAtOnce) {
    const values = distinct.slice(start, start + launchedAtOnce)
    const where: Selector = { kind: 'in', name: 'deviceId', values }
    const { total, online, busy } = await store.countDevices({ ownerNo, where })
    if (total < values.length) throw new ApiError('J-001')
    found.total += total
    found.online += online
    found.busy += busy
  }
  return {
    ...found,
    sample: distinct.slice(0, sampleSize),
    deviceIds: distinct,
    digest: digestOfList(deviceIds),
    unknownNames: [],
  }
}

function digestOfList(deviceIds: string[]): string {
  return digestOf(new Set(deviceIds))
}

/** The version that was asked for, held back as the current one is, or the current one. */
export async function requireJob(
  deps: Pick<CreateRunDeps, 'store'>,
  caller: Caller,
  jobName: string,
  version: number | undefined,
): Promise<StoredJobVersion> {
  const { ownerNo } = caller
  const slice = { after: undefined, limit: 1 }
  const { items } = await deps.store.listJobVersions({ ownerNo, jobName, slice })
  const [current] = items
  if (current === undefined) throw notFound('J-301', jobName)
  if (version === undefined || version === current.version) return current
  return heldAsNow(await getJobVersion(deps, caller, jobName, version), current)
}

/** It says all that it stands for, so that any node can check it and none has to keep it. */
function toPlanId(validUntil: number, { jobName, versionNo }: StoredJobVersion, devices: string): string {
  return `${validUntil.toString(36)}.${digestOf([jobName, String(versionNo), devices])}`
}

function checkPlan(
  { now }: CreateRunDeps,
  planId: string | undefined,
  job: StoredJobVersion,
  devices: string,
): void {
  if (planId === undefined) return
  const validUntil = Number.parseInt(planId.split('.', 1)[0] ?? '', 36)
  const at = now()
  if (!(validUntil >= at && validUntil <= at + planValidMs)) {
    throw new ApiError('J-505', {
      detail: 'The plan is older than 10 minutes, or there is none of this planId.',
    })
  }
  if (toPlanId(validUntil, job, devices) !== planId) {
    throw new ApiError('J-505', { detail: 'The selected devices or the job have changed since the dry run.' })
  }
}
