// The most frequent write: a group of triggers, in one transaction, answered once it is on disk.

import { runEntry } from '../../domain/audit/audit-entry.ts'
import { CommitUnknown } from '../../domain/common/ports/storage-errors.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import type { StoredRollout } from '../../domain/rollout/rollout.ts'
import { eventsAtBegin } from '../../domain/rollout/rollout.ts'
import { type EarlierCall, judgeKey, requestOf, toLaunchedRun } from '../../domain/trigger/launch-run.ts'
import type { WriteOptions } from '../../domain/trigger/ports/write-options.ts'
import type { Trigger, TriggerOutcome } from '../../domain/trigger/trigger.ts'
import { insertInto, type Writes } from '../queries.ts'
import { runParameters, runRequest } from '../schema/tables.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { INSERT_ROLLOUT, toRolloutRow } from '../tables/rollouts.ts'
import { hasValues, newRunFields, toRunRow, toValuesRow } from '../tables/runs.ts'
import { type CachedKeys, isKeyOlder } from './cached-keys.ts'
import type { Catalogue } from './catalogue.ts'
import { type Database, takeIds } from './database.ts'
import type { CachedTriggers, Directory, Names } from './directory.ts'
import { areNamesChanged, isMissingPartition } from './failures.ts'
import { claimKeys, findEarlierCalls } from './idempotency-keys.ts'
import type { Launched } from './launch-alone.ts'
import { launchStatement } from './launch-statement.ts'
import type { OldestRuns } from './oldest-runs.ts'
import type { Partitions } from './partitions.ts'
import { findListed, isLong, readNames } from './read-names.ts'
import { sendExecutions } from './send-executions.ts'
import type { Transaction } from './transaction.ts'
import {
  countIds,
  type Entry,
  type Found,
  findNamed,
  judge,
  type Launch,
  launchGroup,
  readFull,
  readWindows,
} from './trigger-group.ts'

const INSERT_RUNS = insertInto(newRunFields)
const INSERT_REQUESTS = insertInto(runRequest.fields)
const INSERT_PARAMETERS = insertInto(runParameters.fields)

/** A group with more executions is not written by one statement, so that the next groups can begin earlier. */
const mostAtOnce = 1000

type Recorded = Exclude<TriggerOutcome, { kind: 'replayed' }> | { kind: 'made-before'; runId: number }

type Parts = {
  db: Database
  partitions: Partitions
  catalogue: Catalogue
  directory: Directory
  keys: CachedKeys
  oldestRuns: OldestRuns
}

export function buildTriggerSteps(parts: Parts): Pick<Store, 'createExecutions'> {
  const { db, partitions, directory } = parts

  async function recordWithNames(triggers: Trigger[], options?: WriteOptions): Promise<Recorded[]> {
    const cached = directory.lookUpCached(triggers)
    if (cached === undefined) return recordInSteps(parts, triggers, undefined, options)
    try {
      const launches = planAtOnce(triggers, cached, parts.oldestRuns)
      if (launches) return await recordAtOnce(parts, cached.names, launches, options)
      return await recordInSteps(parts, triggers, cached, options)
    } catch (error) {
      if (!areNamesChanged(error)) throw error
      directory.evict(cached.names.keys())
      return recordInSteps(parts, triggers, undefined, options)
    }
  }

  /** Never rejects: the group is on disk, and after an error it would be written again. */
  async function answer(recorded: Recorded): Promise<TriggerOutcome> {
    if (recorded.kind !== 'made-before') return recorded
    try {
      return { kind: 'replayed', run: await getLaunchedRun(db.named, recorded) }
    } catch (error) {
      return { kind: 'unreadable', error }
    }
  }

  return {
    async createExecutions(triggers, options) {
      if (triggers.length === 0) return []
      const recorded = await recordWithNames(triggers, options).catch(async (error: unknown) => {
        if (!isMissingPartition(error)) throw error
        // Other nodes have used up the prepared partitions, or the database was failed over or restored: see `isOtherHistory`.
        partitions.clear()
        await partitions.reachNext()
        return recordWithNames(triggers, options)
      })
      const isNew = (each: Recorded) => each.kind !== 'made-before'
      return recorded.every(isNew) ? recorded : Promise.all(recorded.map(answer))
    },
  }
}

/** Undefined: the group needs more than one statement. */
function planAtOnce(
  triggers: Trigger[],
  { names, devices }: CachedTriggers,
  oldestRuns: OldestRuns,
): Launch[] | undefined {
  let executions = 0
  const keys = new Set<string>()
  for (const { ownerNo, deviceIds, idempotency, quota, request, plan, values } of triggers) {
    executions += deviceIds.length
    const isCounted =
      quota !== undefined && (quota.isOver || !oldestRuns.isFarBelow(ownerNo, quota.perDevice))
    const isPlain = request === undefined && plan === undefined && !hasValues(values)
    const key = idempotency && `${ownerNo} ${idempotency.key}`
    const isTwice = key !== null && keys.has(key)
    if (key !== null) keys.add(key)
    const needsMore = isCounted || isTwice || !isPlain
    if (needsMore || executions > mostAtOnce) return undefined
  }
  if (triggers.some((trigger) => isKeyOlder(trigger, names))) return undefined
  const entries = launchGroup(
    triggers.map((trigger, index) => judge(trigger, names, devices[index] ?? [])),
    { runId: 0, jobExecutionId: 0 },
  )
  const isPlain = (entry: Entry) =>
    'run' in entry && entry.run.window === undefined && entry.run.priority === undefined
  return entries.every((entry): entry is Launch => isPlain(entry)) ? entries : undefined
}

async function recordAtOnce(
  parts: Parts,
  names: Names,
  launches: Launch[],
  options?: WriteOptions,
): Promise<Recorded[]> {
  const { catalogue, partitions, oldestRuns } = parts
  const hasKeys = launches.some(({ trigger }) => trigger.idempotency !== null)
  const launched = await catalogue.launch(names.keys(), launchStatement(names, launches), options)
  // The connection was lost, and the marker does not show which keys were used before, so these are looked up.
  const made = hasKeys && launched.made === null ? [] : giveIds(launches, launched)
  const last = made.at(-1)?.run
  if (last) {
    partitions.follow(last.firstExecutionId + last.total - 1, last.launchedAt)
    oldestRuns.follow(last.runId)
  }
  if (made.length === launches.length) return made.map(outcomeOf)
  const recorded = new Map<Launch, Recorded>(made.map((launch) => [launch, outcomeOf(launch)]))
  for (const [position, runId, hash] of launched.used ?? []) {
    const launch = launches[position]
    const asked = launch?.trigger.idempotency?.requestHash
    if (launch && asked)
      recorded.set(launch, judgeKey({ runId, requestHash: Buffer.from(hash, 'hex') }, asked))
  }
  const unclear = launches.filter((launch) => !recorded.has(launch))
  if (unclear.length > 0) for (const each of await recordUnclear(parts, unclear)) recorded.set(...each)
  return launches.map((launch) => recorded.get(launch) as Recorded)
}

/** The launches that have created a run, in their order. */
function giveIds(launches: Launch[], { runId, jobExecutionId, made }: Launched): Launch[] {
  if (made === null) {
    for (const { run } of launches) {
      run.runId += runId
      run.firstExecutionId += jobExecutionId
    }
    return launches
  }
  const ids = new Map(made.map(([position, ...each]) => [position, each]))
  return launches.filter(({ run }, position) => {
    const given = ids.get(position)
    if (given) [run.runId, run.firstExecutionId] = given
    return given !== undefined
  })
}

/**
 * Records triggers whose response was lost, or whose key was claimed by a call on another node meanwhile. Never rejects: the others of
 * the group are on disk. Without its key, the outcome of a trigger remains unknown.
 */
async function recordUnclear(parts: Parts, launches: Launch[]): Promise<Map<Launch, Recorded>> {
  const unreadable = (error: unknown): Recorded => ({ kind: 'unreadable', error })
  const keyed = launches.filter(({ trigger }) => trigger.idempotency !== null)
  const triggers = keyed.map(({ trigger }) => trigger)
  const recorded = await recordInSteps(parts, triggers, undefined).catch((error: unknown) =>
    triggers.map(() => unreadable(error)),
  )
  const lost = unreadable(new CommitUnknown(new Error('the answer was lost')))
  return new Map(launches.map((launch) => [launch, recorded[keyed.indexOf(launch)] ?? lost]))
}

/** `cached`: cached names; undefined: they are read. */
function recordInSteps(
  { catalogue, partitions, directory, keys, oldestRuns }: Parts,
  triggers: Trigger[],
  cached: CachedTriggers | undefined,
  options?: WriteOptions,
): Promise<Recorded[]> {
  const work = async (transaction: Transaction, releaseTurn: () => void): Promise<Recorded[]> => {
    // Keys are claimed in order, too: of two calls with one key, the first one creates the run.
    if (triggers.every(({ idempotency }) => idempotency === null)) releaseTurn()
    const [known, earlier] = await Promise.all([
      cached?.names ?? readNames(transaction.named, triggers),
      findEarlierCalls(transaction.named, triggers),
    ])
    if (cached === undefined) directory.remember(known)
    const isKeyChanged = await keys.findChanged(transaction.named, triggers, known)
    const found = cached?.devices ?? (await findAll(transaction.named, triggers, known, earlier))
    const full = await readFull(transaction.named, triggers, found, oldestRuns)
    const hasWindow = await readWindows(transaction.named, triggers)
    const judged = triggers.map((trigger, index) => {
      const devices = found[index]
      if (isKeyChanged(trigger)) return { kind: 'key-changed' } as const
      return earlier[index] ?? judge(trigger, known, devices ?? [], full, hasWindow)
    })
    // Only created runs use up ids. These are assigned after the lock of the owner, so they are higher than the ids of any
    // device's older name (device_rename).
    const { runs, executions } = countIds(judged)
    const firstIds = runs > 0 ? await takeIds(transaction, runs, executions) : { runId: 0, jobExecutionId: 0 }
    oldestRuns.follow(firstIds.runId + runs - 1)
    const entries = launchGroup(judged, firstIds)
    const recorded = await claimKeys(transaction.named, triggers, entries)
    releaseTurn()
    const launches = entries.filter((entry, index): entry is Launch => {
      return 'run' in entry && recorded[index] === undefined
    })
    if (launches.length > 0) {
      await partitions.reach(firstIds.jobExecutionId + executions - 1, triggers[0]?.launchedAt)
      await write(transaction, launches)
    }
    return entries.map((entry, index) => recorded[index] ?? outcomeOf(entry))
  }
  const owners = triggers.map(({ ownerNo }) => ownerNo)
  return catalogue.hold(owners, cached?.names, work, options)
}

/** Repeated calls have no devices. */
async function findAll(
  queries: Writes,
  triggers: Trigger[],
  names: Names,
  earlier: (EarlierCall | undefined)[],
): Promise<(Found | undefined)[]> {
  const all: (Found | undefined)[] = []
  for (const [index, trigger] of triggers.entries()) {
    const isLookedUp = earlier[index] === undefined
    if (isLookedUp)
      all[index] = isLong(trigger) ? await findListed(queries, trigger) : findNamed(trigger, names)
  }
  return all
}

function outcomeOf(entry: Entry): Recorded {
  if ('kind' in entry) return entry
  return { kind: 'created', run: toLaunchedRun(entry.run, entry.trigger, entry.devices) }
}

async function write(transaction: Transaction, launches: Launch[]): Promise<void> {
  for (const { run } of launches) {
    const { runId, ownerNo, launchedAt } = run
    transaction.events.push({ type: 'run.created', ownerNo, runId, at: launchedAt })
    transaction.entries.push(runEntry(run, run.audit))
    if (run.rollout) writeRollout(transaction, run.rollout, launchedAt)
  }
  transaction.named.sendRows(
    INSERT_RUNS,
    launches.map(({ run }) => toRunRow(run)),
  )
  transaction.named.sendRows(
    INSERT_REQUESTS,
    launches.flatMap(({ trigger, run }) => requestOf(trigger, run) ?? []),
  )
  transaction.named.sendRows(
    INSERT_PARAMETERS,
    launches.flatMap(({ trigger: { values }, run: { runId } }) =>
      hasValues(values) ? [toValuesRow(values, runId)] : [],
    ),
  )
  await sendExecutions(transaction, launches)
}

/** Must be called before the run becomes visible. */
export function writeRollout({ named }: Transaction, rollout: StoredRollout, at: number): void {
  const { ownerNo, runId } = rollout
  named.sendRows(INSERT_ROLLOUT, [toRolloutRow(rollout)])
  for (const { type, details } of eventsAtBegin(rollout))
    named.runChanged(type, { ownerNo, runId, at, details })
}
