// One simulation: the core of the server, devices and callers of two owners, and faults in between, all from one seed.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import type { Final } from '../history/history.ts'
import { checkTenant, leakedSecrets } from './check-tenant.ts'
import { disturb } from './disturb.ts'
import { openEmptyDatabase } from './empty-database.ts'
import { checkPresence, monitor } from './monitor.ts'
import { readStored } from './read-stored.ts'
import { jobs, seedWorld } from './seed-world.ts'
import { revokeDuring, SimulatedCaller, SimulatedFollower } from './simulated-callers.ts'
import { ConnectedDevice, PollingDevice } from './simulated-devices.ts'
import { endRollouts } from './steer-rollouts.ts'
import type { CallerKey, Tenant } from './tenant.ts'
import { useTime, VirtualTime } from './virtual-time.ts'
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
/** After the last fault: a retry, a time-out, a canceled execution and the next opening of a window included. */
const quietMs = 90_000

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
  const guarded = (work: Promise<unknown>) =>
    void work.catch((error) => problems.push(`thrown: ${error?.stack ?? error}`))
  await seedQuietly(world)
  const devices = world.tenants.flatMap((tenant) => startTenant(world, tenant, guarded))
  const [first] = world.tenants as [Tenant]
  guarded(revokeDuring(world, first.keys[2] as CallerKey, () => newestRun(db)))
  guarded(disturb(world))
  guarded(endRollouts(world))
  guarded(monitor(world, db, devices))

  await time.run(() => false, disturbedMs)
  await time.run(() => !world.node.isKilled, 2 * disturbedMs)
  world.isQuiet = true
  world.disturbedAt = time.elapsed
  await letEnd(world, db)
  // Presence is written every second, and a half-open connection is found within three. A device that works for five
  // seconds notices only then that its connection is gone.
  await time.run(() => false, time.elapsed + 10_000)
  problems.push(...checkPresence(db, devices))

  const finals = await readAll(world, guarded)
  await time.run(
    () => world.tenants.every((tenant, at) => tenant.hasSeen(finals[at]?.log ?? [])),
    time.elapsed + 20_000,
  )
  world.isOver = true
  world.node.kill()
  if (finals.length < world.tenants.length)
    return { problems: [...problems, 'no final state'], executions: 0, events: 0, kills: 0, digest: '' }
  const found = world.tenants.flatMap((tenant, at) => checkTenant(tenant, finals[at] as Final, time.now()))
  // What was watched meanwhile comes last: it says the same once a second.
  return {
    problems: [...new Set([...found, ...leakedSecrets(world.tenants, db), ...problems])],
    executions: finals.reduce((sum, { executions }) => sum + executions.length, 0),
    events: finals.reduce((sum, { log }) => sum + log.length, 0),
    kills: world.kills,
    digest: digestOf(finals, world.tenants),
  }
}

/** Nothing goes wrong before everything is there. */
async function seedQuietly(world: World): Promise<void> {
  world.isQuiet = true
  let isSeeded = false
  void seedWorld(world.node, world.random).then((tenants) => {
    world.tenants.push(...tenants)
    isSeeded = true
  })
  if (!(await world.time.run(() => isSeeded, 1000))) throw new Error('not seeded')
  world.isQuiet = false
}

/** Gives its devices. */
function startTenant(
  world: World,
  tenant: Tenant,
  guarded: (work: Promise<unknown>) => void,
): (ConnectedDevice | PollingDevice)[] {
  const { random } = world
  const { deviceIds, keys } = tenant
  const [one, two] = keys as [CallerKey, CallerKey]
  const devices = deviceIds.map((deviceId, index) => {
    const kind = index > 0 && random.chance(0.3) ? PollingDevice : ConnectedDevice
    return new kind(world, tenant, deviceId)
  })
  tenant.devices = devices
  for (const device of devices) guarded(device.live())
  const followers = (random.chance(0.3) ? [one, two] : [one]).map((key) => new SimulatedFollower(world, key))
  tenant.followers = followers
  for (const follower of followers) guarded(follower.followUntilOver())
  const names = Object.keys(jobs)
  const callers = tenant === world.tenants[0] ? [one, two] : [one]
  for (const [index, key] of callers.entries()) {
    guarded(new SimulatedCaller({ world, tenant, key, jobs: names, name: `c${index}` }).callUntilQuiet())
  }
  return devices
}

async function letEnd({ time, tenants, problems }: World, db: DatabaseSync): Promise<void> {
  const isDone = () =>
    unfinished(db).length === 0 && tenants.every((tenant) => tenant.hasSeen(eventsOf(db, tenant)))
  const end = time.elapsed + quietMs
  for (let isEnd = isDone(); !isEnd && time.elapsed < end; isEnd = isDone()) {
    await time.run(() => false, time.elapsed + 500)
  }
  if (isDone()) return
  const behind = tenants.filter((tenant) => !tenant.hasSeen(eventsOf(db, tenant))).map(({ name }) => name)
  problems.push(
    `after ${quietMs} quiet ms, executions ${unfinished(db).join()} have not ended, and who reads events of [${behind.join()}] is behind`,
  )
}

async function readAll(world: World, guarded: (work: Promise<unknown>) => void): Promise<Final[]> {
  const { time, tenants, node } = world
  const finals: Final[] = []
  const read = async () => {
    for (const { ownerNo } of tenants) finals.push(await readStored(node.parts, ownerNo))
  }
  guarded(read())
  await time.run(() => finals.length === tenants.length, time.elapsed + 10_000)
  return finals
}

/** Without who did it: keys are named at random. */
function digestOf(finals: Final[], tenants: Tenant[]): string {
  const unnamed = { actor: undefined, keyId: undefined, principal: undefined }
  const told = finals.map(({ log }) =>
    log.map(({ data, ...event }) => ({ ...event, data: { ...data, ...unnamed } })),
  )
  const steps = tenants.map((tenant) => [
    tenant.steps,
    tenant.posts.map(({ id, accepted }) => [id, accepted]),
  ])
  return hash('sha256', JSON.stringify([told, steps]))
}

const unfinished = (db: DatabaseSync) =>
  db
    .prepare(
      `SELECT execution_id AS id FROM execution JOIN run USING (run_id) WHERE state IN ('PENDING', 'IN_PROGRESS', 'CANCELING')`,
    )
    .all()
    .map(({ id }) => id)
const eventsOf = (db: DatabaseSync, { ownerNo }: Tenant) =>
  db
    .prepare('SELECT event_id AS id, type FROM event WHERE owner_no = ? ORDER BY event_id')
    .all(ownerNo)
    .map(({ id, type }) => ({ eventId: Number(id), type: String(type) }))
const newestRun = (db: DatabaseSync) => Number(db.prepare('SELECT max(run_id) AS id FROM run').get()?.id ?? 1)
