// One simulation: the core of the server, devices and callers, and faults in between, all from one seed.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { ApiError, type Execution, type Scope, type Transition } from '@jobcast/contract'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { deleteDevice, putDevice } from '../../src/domain/device.ts'
import { toWireEvent } from '../../src/domain/event.ts'
import type { StoredJobContent } from '../../src/domain/ports/jobs.ts'
import type { Slice, Sliced } from '../../src/domain/ports/slices.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { hashSecret, newSecretText } from '../../src/domain/secret-text.ts'
import { toExecution, toRun, toTransition } from '../../src/http/to-wire.ts'
import { loadCatalogue } from '../../src/store/sqlite/catalogue.ts'
import { checkHistory } from '../history/check-history.ts'
import type { Final } from '../history/history.ts'
import { emptyContent } from '../store/store-under-test.ts'
import { openEmptyDatabase } from './empty-database.ts'
import { type CallerKey, revokeDuring, SimulatedCaller, SimulatedFollower } from './simulated-callers.ts'
import { ConnectedDevice, PollingDevice } from './simulated-devices.ts'
import type { SimulatedNode } from './simulated-node.ts'
import { startedAt, useTime, VirtualTime } from './virtual-time.ts'
import { type Defect, World } from './world.ts'

export type SimulationResult = {
  problems: string[]
  executions: number
  events: number
  kills: number
  /** Of everything that happened: the same for the same seed. */
  digest: string
}

const disturbedMs = 6000
/** After the last fault: a retry, a time-out and a canceled execution included. */
const quietMs = 60_000
/** A sweep every three seconds finds what a lost notification missed. */
const idleLimitMs = 6000
/** A timer fires within two seconds of its time. */
const timerLimitMs = 3000

const jobs: Record<string, Partial<StoredJobContent>> = {
  plain: {},
  retried: { timeoutSeconds: 2, retry: { max: 2, backoffSeconds: 1, on: ['FAILED', 'TIMED_OUT'] } },
  limited: { expireAfterSeconds: 6, deadlineSeconds: 15, timeoutSeconds: 4 },
}

export async function simulate(seed: number, defect?: Defect): Promise<SimulationResult> {
  const time = new VirtualTime()
  useTime(time)
  const db = openEmptyDatabase()
  try {
    return await simulateOn(db, time, seed, defect)
  } finally {
    db.close()
  }
}

async function simulateOn(
  db: DatabaseSync,
  time: VirtualTime,
  seed: number,
  defect: Defect | undefined,
): Promise<SimulationResult> {
  const random = seededRandom(seed)
  // Copying what threads send each other takes a tenth of the time.
  const world = new World({ db, time, random, defect, copiesMessages: seed % 4 === 0 })
  const { problems } = world
  const deviceIds = Array.from({ length: 2 + random.below(3) }, (_, index) => `d${index}`)
  world.isQuiet = true
  let keys: CallerKey[] | undefined
  void seedWorld(world.node.parts.store, deviceIds).then((made) => {
    keys = made
  })
  if (!(await time.run(() => keys !== undefined, 1000)) || keys === undefined) throw new Error('not seeded')
  world.isQuiet = false
  const [one, two, revoked] = keys as [CallerKey, CallerKey, CallerKey]
  const { ownerNo } = one.caller

  const guarded = (work: Promise<unknown>) =>
    void work.catch((error) => problems.push(`thrown: ${error?.stack ?? error}`))
  const devices = deviceIds.map((deviceId, index) => {
    const kind = index > 0 && random.chance(0.3) ? PollingDevice : ConnectedDevice
    return new kind(world, { ownerNo, deviceId })
  })
  for (const device of devices) guarded(device.live())
  const followers = (random.chance(0.3) ? [one, two] : [one]).map((key) => new SimulatedFollower(world, key))
  for (const follower of followers) guarded(follower.followUntilOver())
  const names = Object.keys(jobs)
  const calling = [one, two].map((key, index) =>
    new SimulatedCaller({ world, key, jobs: names, deviceIds, name: `c${index}` }).callUntilQuiet(),
  )
  calling.map(guarded)
  guarded(revokeDuring(world, revoked, () => newestRun(db)))
  guarded(disturb(world, devices, one.caller))
  guarded(monitor(world, db, devices))

  await time.run(() => false, disturbedMs)
  await time.run(() => !world.node.isKilled, 2 * disturbedMs)
  world.isQuiet = true
  world.disturbedAt = time.elapsed
  const isDone = () => unfinished(db).length === 0 && followers.every(({ upTo }) => upTo >= newestEvent(db))
  const end = time.elapsed + quietMs
  for (let isEnd = isDone(); !isEnd && time.elapsed < end; isEnd = isDone()) {
    await time.run(() => false, time.elapsed + 500)
  }
  if (!isDone()) {
    const at = followers.map(({ upTo }) => upTo).join()
    problems.push(
      `after ${quietMs} quiet ms, executions ${unfinished(db).join()} have not ended, and followers are at ${at} of ${newestEvent(db)}`,
    )
  }
  // Presence is written every second, and a half-open connection is found within three.
  await time.run(() => false, time.elapsed + 5000)
  problems.push(...checkPresence(db, devices))

  let final: Final | undefined
  guarded(
    readFinal(world.node.parts.store, ownerNo).then((read) => {
      final = read
    }),
  )
  await time.run(() => final !== undefined, time.elapsed + 10_000)
  await time.run(
    () => followers.every(({ upTo }) => upTo >= (final?.log.at(-1)?.eventId ?? 0)),
    time.elapsed + 20_000,
  )
  world.isOver = true
  world.node.kill()
  if (final === undefined)
    return { problems: [...problems, 'no final state'], executions: 0, events: 0, kills: 0, digest: '' }
  const { calls, steps, kills } = world
  const history = { calls, steps, followers: followers.map(({ seen }) => seen), posts: [] }
  // What was watched meanwhile comes last: it says the same once a second.
  const found = checkHistory(history, { ...final, webhookAfter: Number.POSITIVE_INFINITY })
  const all = [...new Set([...found, ...problems])]
  return {
    problems: all,
    executions: final.executions.length,
    events: final.log.length,
    kills,
    digest: digestOf(final.log, steps),
  }
}

/** Without who did it: keys are named at random. */
function digestOf(log: Final['log'], steps: unknown[]): string {
  const unnamed = { actor: undefined, keyId: undefined, principal: undefined }
  const told = log.map(({ data, ...event }) => ({ ...event, data: { ...data, ...unnamed } }))
  return hash('sha256', JSON.stringify([told, steps]))
}

/** What goes wrong, and when. */
async function disturb(
  world: World,
  devices: (ConnectedDevice | PollingDevice)[],
  caller: CallerKey['caller'],
): Promise<void> {
  const { random, time } = world
  while (!world.isQuiet) {
    await time.sleep(random.below(1500))
    if (world.isQuiet) return
    const what = random.below(10)
    if (what < 1 && !world.node.isKilled) world.killNode(random.below(2000))
    else if (what < 2) world.disturbStorage('bad', random.below(1000))
    else if (what < 3) world.disturbStorage('slow', random.below(2000))
    else if (what < 4) void replaceDevice(world, caller, random.pick(deviceIdsOf(devices)))
    else {
      const device = random.pick(devices)
      if (device instanceof ConnectedDevice) device.disturb()
    }
  }
}

const deviceIdsOf = (devices: (ConnectedDevice | PollingDevice)[]) =>
  devices.map(({ device }) => device.deviceId)

/** Deletes a device, whatever it does, and creates it again; both until it is known to be done. */
async function replaceDevice(world: World, caller: CallerKey['caller'], deviceId: string): Promise<void> {
  const { time, random, deleted } = world
  if (deleted.has(deviceId)) return
  deleted.add(deviceId)
  const repeat = async (work: (node: SimulatedNode) => Promise<unknown>) => {
    for (;;) {
      const node = await world.running()
      const isDone = await node.answer(work(node)).then(
        () => true,
        // It may have been deleted by the call before.
        (error) => error instanceof ApiError,
      )
      if (isDone) return
      await time.sleep(100)
    }
  }
  await repeat(({ parts }) => deleteDevice(parts, caller, deviceId))
  await time.sleep(random.below(800))
  await repeat(({ parts }) => putDevice(parts, caller, deviceId, { deviceName: `${time.elapsed}` }))
  deleted.delete(deviceId)
}

/** While nothing else goes wrong: who is connected and idle gets what waits for it, and timers fire. */
async function monitor(
  world: World,
  db: DatabaseSync,
  devices: (ConnectedDevice | PollingDevice)[],
): Promise<void> {
  const waiting = db.prepare(`
    SELECT min(execution_id) AS id FROM execution JOIN device USING (device_no)
    WHERE device_id = ? AND (state = 'IN_PROGRESS' OR (state = 'PENDING' AND not_before IS NULL))`)
  const overdue = db.prepare(
    `SELECT execution_id AS id FROM execution WHERE finished_at IS NULL AND due_at IS NOT NULL AND due_at < ?`,
  )
  /** Which execution waits for which device, and since when. */
  const since = new Map<unknown, { id: unknown; at: number }>()
  const { time, problems } = world
  while (!world.isOver) {
    await time.sleep(1000)
    for (const device of devices) {
      const { idleSince } = device
      const id = waiting.get(device.device.deviceId)?.id ?? null
      const before = since.get(device)
      if (id === null || idleSince === undefined) since.delete(device)
      else if (before?.id !== id) since.set(device, { id, at: time.elapsed })
      else if (time.elapsed > Math.max(before.at, idleSince, world.disturbedAt) + idleLimitMs) {
        problems.push(
          `${device.device.deviceId} is idle at ${time.elapsed} ms, and execution ${id} waits since ${before.at}`,
        )
        since.delete(device)
      }
    }
    if (!world.node.isKilled && world.node.isIdle) problems.push(...checkMemory(world, db, devices))
    if (world.node.isKilled || time.elapsed < world.disturbedAt + timerLimitMs) continue
    for (const { id } of overdue.all(world.node.steady.now() - timerLimitMs)) {
      problems.push(`a timer of execution ${id} has not fired at ${time.elapsed} ms`)
    }
  }
}

/** What the store keeps in memory of the queues is what it would read at its next start. */
function checkMemory(world: World, db: DatabaseSync, devices: (ConnectedDevice | PollingDevice)[]): string[] {
  const stored = loadCatalogue(db)
  return devices.flatMap(({ device: { ownerNo, deviceId } }) => {
    const [memory, disk] = [world.node.catalogue, stored].map((catalogue) => {
      const queue = catalogue.devices(ownerNo).getOnDisk(deviceId)?.queue
      return `[${queue?.all.join()}] with ${queue?.offered(catalogue.held)} on offer`
    })
    return memory === disk ? [] : [`the queue of ${deviceId} is ${memory} in memory, and ${disk} on disk`]
  })
}

function checkPresence(db: DatabaseSync, devices: (ConnectedDevice | PollingDevice)[]): string[] {
  const online = db.prepare('SELECT online FROM device WHERE device_id = ? AND deleted_at IS NULL')
  return devices
    .filter(({ device }) => online.get(device.deviceId)?.online !== 1)
    .map(({ device }) => `${device.deviceId} is connected and stored as offline`)
}

const unfinished = (db: DatabaseSync) =>
  db
    .prepare(
      `SELECT execution_id AS id FROM execution WHERE state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')`,
    )
    .all()
    .map(({ id }) => id)
const newestEvent = (db: DatabaseSync) =>
  Number(db.prepare('SELECT max(event_id) AS id FROM event').get()?.id ?? 0)
const newestRun = (db: DatabaseSync) => Number(db.prepare('SELECT max(run_id) AS id FROM run').get()?.id ?? 1)

async function seedWorld(store: Store, deviceIds: string[]): Promise<CallerKey[]> {
  const at = startedAt
  const owner = await store.createOwner({ ownerId: 'ow_1', ownerName: 'default', createdAt: at })
  if (owner === 'name-taken') throw new Error('the owner exists')
  const { ownerNo, ownerId } = owner
  for (const [jobName, content] of Object.entries(jobs)) {
    await store.putJob({ ownerNo, jobName, content: { ...emptyContent, ...content }, at })
  }
  await store.putDevices(deviceIds.map((deviceId) => ({ ownerNo, deviceId, deviceName: '', tags: [], at })))
  const keys: CallerKey[] = []
  for (const keyName of ['one', 'two', 'revoked']) {
    const secret = newSecretText('jc')
    const scopes: Scope[] = ['TRIGGER', 'READ', 'MANAGE']
    await store.createApiKey({
      keyId: secret.id,
      ownerNo,
      keyName,
      secretHash: hashSecret(secret.text),
      scopes,
      expiresAt: null,
      createdAt: at,
      createdBy: null,
      createdBySession: null,
    })
    keys.push({ apiKey: secret.text, caller: { keyId: secret.id, ownerNo, ownerId, scopes } })
  }
  return keys
}

async function readFinal(store: Store, ownerNo: number): Promise<Final> {
  const readAll = async <T>(read: (slice: Slice<number>) => Promise<Sliced<T, number>>) => {
    const all: T[] = []
    let after: number | undefined
    do {
      const { items, next } = await read({ after, limit: 200 })
      all.push(...items)
      after = next
    } while (after !== undefined)
    return all
  }
  const log: Final['log'] = []
  for (let after = 0, more = true; more; ) {
    const page = await store.listEvents({ ownerNo, filter: {}, slice: { after, limit: 500 } })
    log.push(...page.events.map(toWireEvent))
    after = page.upTo
    more = page.more
  }
  const runs = await readAll((slice) => store.listRuns({ ownerNo, filter: {}, slice }))
  const stored = await readAll((slice) => store.listExecutions({ ownerNo, filter: {}, slice }))
  const clocks = { at: startedAt, clock: startedAt } as unknown as Parameters<typeof toExecution>[1]
  const executions: Execution[] = stored.map((each) => toExecution(each, clocks))
  const transitions = new Map<number, Transition[]>()
  for (const { jobExecutionId } of executions) {
    const its = (await store.listTransitions({ ownerNo, jobExecutionId })) ?? []
    transitions.set(jobExecutionId, its.map(toTransition))
  }
  return { runs: runs.map((run) => toRun(run, new Map())), executions, transitions, log, webhookAfter: 0 }
}
