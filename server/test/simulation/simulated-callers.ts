// Callers in simulated time: they trigger, cancel, wait for the end of runs, follow events, and one has its key revoked.

import { ApiError, type JobcastEvent } from '@jobcast/contract'
import {
  CommitUnknown,
  StorageUnavailable,
  TooMuchWaiting,
} from '../../src/domain/common/ports/storage-errors.ts'
import { toWireEvent } from '../../src/domain/event/event.ts'
import { followEvents } from '../../src/domain/event/follow-events.ts'
import { isFinished, readRun } from '../../src/domain/execution/read-execution.ts'
import { cancelRun } from '../../src/domain/trigger/cancel-run.ts'
import type { RecordedCall } from '../history/history.ts'
import type { TriggerAnswer } from '../history/trigger-answer.ts'
import { replaceDevice } from './replace-device.ts'
import { NodeKilled, type SimulatedNode } from './simulated-node.ts'
import { pickRequest, type SimulatedRequest, sendRequest } from './simulated-requests.ts'
import { steerRollout } from './steer-rollouts.ts'
import type { CallerKey, Tenant } from './tenant.ts'
import type { World } from './world.ts'

type CallerOptions = {
  world: World
  tenant: Tenant
  key: CallerKey
  jobs: string[]
  /** Callers of other owners have the same: their idempotency keys are the same texts. */
  name: string
}
type Sent = { call: RecordedCall; request: SimulatedRequest }

/** A wait is late when it lasts this much longer than it has to: a lost signal costs five seconds. */
const lateMs = 6000
/** Requests of a revoked key end within five seconds. */
const revokedMs = 5000

export class SimulatedCaller {
  readonly #options: CallerOptions
  #calls = 0

  constructor(options: CallerOptions) {
    this.#options = options
  }

  async callUntilQuiet(): Promise<void> {
    const { world } = this.#options
    const { random, time } = world
    while (!world.isQuiet) {
      await time.sleep(random.below(1500))
      if (world.isQuiet) return
      const sent = await this.#newCall(await world.running())
      const { call, request } = sent
      let answer = await this.#send(sent)
      const mayRepeat = () => call.key !== undefined && !world.isQuiet
      for (let tries = 0; answer.kind !== 'created' && mayRepeat() && tries < 5; tries++) {
        await time.sleep(random.below(300))
        answer = await this.#send(sent)
      }
      if (answer.kind !== 'created') continue
      if (mayRepeat() && random.chance(0.3)) await this.#send(sent)
      if (random.chance(0.3)) void this.#wait(answer.runId)
      if (random.chance(0.2)) void this.#cancel(answer.runId)
      if (request.kind !== 'trigger')
        steerRollout(world, this.#options.tenant, answer.runId).catch((error) =>
          world.problems.push(`thrown: ${error.stack}`),
        )
    }
  }

  async #newCall(node: SimulatedNode): Promise<Sent> {
    const { world, tenant, jobs, name } = this.#options
    const { random } = world
    const { deviceIds } = tenant
    const chosen = random.some(deviceIds, 1 + random.below(deviceIds.length))
    if (random.chance(0.1)) chosen.push(random.pick(['nobody', chosen[0] as string]))
    const key = random.chance(0.5) ? `${name}-${this.#calls++}` : undefined
    const wanted = { jobName: random.pick(jobs), deviceIds: chosen }
    const request = await pickRequest(node, tenant, random, wanted)
    const call = { jobName: request.jobName, deviceIds: request.deviceIds, key, answers: [] }
    tenant.calls.push(call)
    return { call, request }
  }

  async #send({ call, request }: Sent): Promise<TriggerAnswer> {
    const { world, tenant, key } = this.#options
    const node = await world.running()
    if (request.kind === 'large' && !world.isQuiet && world.random.chance(0.3)) {
      // While it is written, or soon after.
      const deviceId = world.random.pick(request.deviceIds)
      world.time.after(world.random.below(20), () => void replaceDevice(world, key.caller, deviceId))
    }
    const answer = await node
      .answer<TriggerAnswer>(sendRequest(node, key.caller, request, call.key))
      .catch((error) => toAnswer(error, request))
    call.answers.push(answer)
    if (answer.kind === 'created' && request.kind === 'run' && request.word !== undefined)
      tenant.secrets.set(answer.runId, request.word)
    return answer
  }

  async #cancel(runId: number): Promise<void> {
    const { world, key } = this.#options
    await world.time.sleep(world.random.below(3000))
    const node = await world.running()
    const force = world.random.chance(0.3)
    await node.answer(cancelRun(node.parts, key.caller, runId, force)).catch(() => undefined)
  }

  /** It ends soon after the run has ended, its time is over, or its key is revoked. */
  async #wait(runId: number): Promise<void> {
    const { world, key } = this.#options
    const { time, random } = world
    const seconds = 1 + random.below(15)
    const node = await world.running()
    const held = node.hold(key.apiKey, seconds)
    const begun = time.elapsed
    try {
      const { run } = await node.answer(readRun(node.parts, key.caller, runId, held))
      const isEarly = !isFinished(run) && time.elapsed < begun + seconds * 1000 && !held.callerGone.aborted
      if (isEarly) world.problems.push(`a wait for run ${runId} ended before the run did`)
    } catch (error) {
      if (!isExpected(error)) throw error
    }
    held.leave()
    const isLate = time.elapsed > Math.max(begun + seconds * 1000, world.disturbedAt) + lateMs
    if (isLate) world.problems.push(`a wait of ${seconds} s for run ${runId} took ${time.elapsed - begun} ms`)
  }
}

export class SimulatedFollower {
  readonly seen: JobcastEvent[] = []
  upTo = 0
  isRevoked = false
  readonly #world: World
  readonly #key: CallerKey

  constructor(world: World, key: CallerKey) {
    this.#world = world
    this.#key = key
  }

  async followUntilOver(): Promise<void> {
    const world = this.#world
    while (!world.isOver && !this.isRevoked) {
      const node = await world.running()
      const held = node.hold(this.#key.apiKey)
      const { callerGone, isValid } = held
      try {
        const query = { after: this.upTo, since: undefined, filter: {}, callerGone, isValid }
        const batches = await node.answer(followEvents(node.parts, this.#key.caller, query))
        for (;;) {
          const { value, done } = await node.answer(batches.next())
          if (done) break
          this.seen.push(...value.events.map(toWireEvent))
          this.upTo = value.upTo
          // Now and then it goes, and comes back.
          if (!world.isQuiet && world.random.chance(0.05)) break
        }
        void batches.return(undefined)
      } catch (error) {
        if (!isExpected(error)) throw error
        if (error instanceof ApiError) world.problems.push(`a follower was refused with ${error.code}`)
      }
      held.leave()
      if (callerGone.aborted && !(await this.#isValid())) this.isRevoked = true
      await world.time.sleep(50)
    }
  }

  async #isValid(): Promise<boolean> {
    const { parts } = await this.#world.running()
    return (await parts.store.findApiKey({ keyId: this.#key.caller.keyId }))?.revokedAt === null
  }
}

/** Revokes the key of a stream and of a wait that would otherwise continue, and expects their end. */
export async function revokeDuring(world: World, key: CallerKey, runId: () => number): Promise<void> {
  const { time, random, problems } = world
  await time.sleep(random.below(4000))
  const node = await world.running()
  const held = node.hold(key.apiKey, 60)
  const ended = { stream: false, wait: false }
  const stream = async () => {
    const batches = await followEvents(node.parts, key.caller, {
      ...{ after: undefined, since: undefined, filter: {} },
      ...{ callerGone: held.callerGone, isValid: held.isValid },
    })
    while (!(await batches.next()).done);
  }
  const endOf = async (what: 'stream' | 'wait', work: Promise<unknown>) => {
    await work.catch(() => undefined)
    ended[what] = true
  }
  void endOf('stream', stream())
  void endOf('wait', readRun(node.parts, key.caller, runId(), held))
  await time.sleep(random.below(2000))
  const revoke = () =>
    node.answer(
      node.parts.store.revokeApiKey({
        ownerNo: key.caller.ownerNo,
        keyId: key.caller.keyId,
        withDescendants: false,
        principal: 'operator',
        at: time.now(),
      }),
    )
  for (let isRevoked = false; !isRevoked && !node.isKilled; ) {
    isRevoked = await revoke().then(
      ({ kind }) => kind === 'revoked',
      () => false,
    )
    if (!isRevoked) await time.sleep(100)
  }
  const until = time.elapsed + revokedMs
  await time.sleep(revokedMs)
  const isDisturbed = node.isKilled || world.disturbedAt + revokedMs > until
  if (isDisturbed) return
  for (const what of ['stream', 'wait'] as const) {
    if (!ended[what]) problems.push(`a ${what} continued ${revokedMs} ms after its key was revoked`)
  }
}

function toAnswer(error: unknown, { kind }: SimulatedRequest): TriggerAnswer {
  if (error instanceof NodeKilled) return { kind: 'unknown', why: 'killed' }
  if (error instanceof CommitUnknown) return { kind: 'unknown', why: error.message }
  if (error instanceof ApiError) return { kind: 'refused', status: error.status, code: error.code }
  if (error instanceof TooMuchWaiting) return { kind: 'refused', status: 503, code: 'J-908' }
  const isSimulated = String((error as Error).message).includes('simulated')
  // A step of the store that rejects has done nothing; a run takes several, and an answer of 500 promises nothing.
  if (isSimulated && kind !== 'trigger' && !(error instanceof StorageUnavailable))
    return { kind: 'unknown', why: 'answered 500' }
  return isSimulated
    ? { kind: 'refused', status: 503, code: 'J-909' }
    : { kind: 'broken', text: String((error as Error).stack) }
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof NodeKilled ||
    error instanceof ApiError ||
    String((error as Error).message).includes('simulated')
  )
}
