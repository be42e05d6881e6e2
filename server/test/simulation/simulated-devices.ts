// Devices in simulated time. One is connected and handles notices; the other polls over HTTP. Both record their executions, like
// an agent.

import type { DeviceOperation } from '@jobcast/contract'
import { deviceText } from '../../src/domain/device/ports/device-link.ts'
import { waitForPending } from '../../src/domain/execution/wait-for-pending.ts'
import { serveOperation } from '../../src/gateway/serve-operation.ts'
import type { DeviceStep } from '../history/history.ts'
import { type Answer, Broken, SimulatedConnection } from './simulated-connection.ts'
import { NodeKilled } from './simulated-node.ts'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

type DeviceKey = { ownerNo: number; deviceId: string }
type Ask = (operation: DeviceOperation, fields: Record<string, unknown>) => Promise<Answer>
type Begun = { jobId: string; executionNumber: number; jobDocument?: unknown }

const startNext: DeviceOperation = { name: 'start-next' }

abstract class SimulatedDevice {
  readonly device: DeviceKey
  protected readonly world: World
  readonly #tenant: Tenant
  /** Since when it has been connected and waiting for something to do. */
  idleSince: number | undefined
  /** Executions that it was asked to cancel. */
  protected readonly canceled = new Set<number>()

  constructor(world: World, tenant: Tenant, deviceId: string) {
    this.world = world
    this.#tenant = tenant
    this.device = { ownerNo: tenant.ownerNo, deviceId }
  }

  protected get isDeleted(): boolean {
    return this.world.deleted.has(deviceText(this.device))
  }

  abstract live(): Promise<void>

  /** Gives whether there was something to do. */
  protected async workOnce(ask: Ask): Promise<boolean> {
    this.idleSince = undefined
    const answer = await ask(startNext, {})
    if (answer.outcome === 'refused') {
      await this.world.time.sleep(200)
      return true
    }
    const { execution } = answer.json
    if (execution) await this.#carryOut(execution, ask)
    return execution !== undefined
  }

  async #carryOut({ jobId, executionNumber, jobDocument }: Begun, ask: Ask): Promise<void> {
    const { random, time, isQuiet } = this.world
    const jobExecutionId = Number(jobId)
    const step = { deviceId: this.device.deviceId, jobExecutionId, attempt: executionNumber }
    this.#record({ ...step, kind: 'handed' })
    this.#tenant.documents.set(jobExecutionId, jobDocument)
    const update: DeviceOperation = { name: 'update', jobId }
    await time.sleep(isQuiet ? 10 : random.pick([1, 20, 200, 1000, 5000]))
    if (random.chance(0.2)) await ask(update, { status: 'IN_PROGRESS', executionNumber })
    if (!isQuiet && !this.canceled.has(jobExecutionId) && random.chance(0.1)) {
      const statusDetails = { retryAfterSeconds: random.pick(['1', '5']) }
      await ask(update, { status: 'REJECTED', statusDetails, executionNumber })
      return
    }
    // Of an attempt that was withdrawn: the next one is carried out.
    const status = this.canceled.delete(jobExecutionId)
      ? 'CANCELED'
      : random.pick(['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'REJECTED'])
    let answer: Answer | undefined
    try {
      answer = await ask(update, { status, executionNumber })
    } finally {
      const isUnknown =
        answer === undefined || (answer.outcome === 'refused' && answer.code === 'InternalError')
      const known = isUnknown ? 'unknown' : (answer as Answer).outcome
      this.#record({ ...step, kind: 'reported', status, answer: known })
    }
  }

  #record(step: DeviceStep): void {
    this.#tenant.steps.push(step)
  }
}

export class ConnectedDevice extends SimulatedDevice {
  #connection: SimulatedConnection | undefined
  #news = Promise.withResolvers<void>()

  get isConnected(): boolean {
    return this.#connection?.isOpen ?? false
  }

  async live(): Promise<void> {
    const { world } = this
    const { time, random, delayMs, mayDuplicate } = world
    while (!world.isOver) {
      const node = await world.running()
      await time.sleep(world.isQuiet ? 10 : random.below(500))
      if (node.isKilled || world.isOver || this.isDeleted) continue
      const connection: SimulatedConnection = new SimulatedConnection({
        node,
        device: this.device,
        time,
        random,
        delayMs,
        mayDuplicate,
        onNotice: (notice) => {
          if (notice.kind === 'next' && notice.next) this.#news.resolve()
          if (notice.kind === 'cancel') this.canceled.add(notice.jobExecutionId)
        },
        onBroken: () => {
          this.idleSince = undefined
          this.#news.resolve()
        },
      })
      this.#connection = connection
      this.#news = Promise.withResolvers()
      connection.subscribe()
      await this.#work(connection).catch(ignoreBroken)
    }
  }

  disturb(): void {
    const { random } = this.world
    const connection = this.#connection
    if (!connection?.isOpen) return
    if (random.chance(0.3)) connection.congest(random.below(1500))
    else if (random.chance(0.5)) connection.break('both')
    else connection.break('device', random.below(3000))
  }

  /** Some devices request pending executions at once, others wait for a notice; none repeats a request without one. */
  async #work(connection: SimulatedConnection): Promise<void> {
    const { world } = this
    const ask: Ask = (operation, fields) => connection.request(operation, fields)
    let hasNews = world.random.chance(0.5)
    while (connection.isOpen && !world.isOver) {
      if (hasNews) {
        this.#news = Promise.withResolvers()
        if (await this.workOnce(ask)) continue
      }
      if (!connection.isOpen) return
      this.idleSince = world.time.elapsed
      await this.#news.promise
      hasNews = true
    }
  }
}

/** It polls, and what it sends or is answered may get lost. */
export class PollingDevice extends SimulatedDevice {
  async live(): Promise<void> {
    const { world } = this
    while (!world.isOver) {
      const node = await world.running()
      try {
        const checkSignIn = async () => {
          if (this.isDeleted) throw new Broken()
        }
        await checkSignIn()
        const gone = new AbortController()
        const waitLimit = { waitMs: 5000, callerGone: gone.signal }
        node.parts.presence.seenByHttp(this.device)
        this.idleSince = world.time.elapsed
        await node.answer(waitForPending(node.parts, this.device, waitLimit, checkSignIn))
        this.idleSince = undefined
        await this.workOnce((operation, fields) => this.#ask(operation, fields))
      } catch (error) {
        this.idleSince = undefined
        ignoreBroken(error)
      }
      await world.time.sleep(20 + world.random.below(100))
    }
  }

  async #ask(operation: DeviceOperation, fields: Record<string, unknown>): Promise<Answer> {
    const { world } = this
    const { random } = world
    const isLost = () => !world.isQuiet && random.chance(0.05)
    const node = await world.running()
    await world.time.sleep(world.delayMs())
    if (isLost()) throw new Broken()
    const serve = () => serveOperation(node.parts, this.device, operation, fields, 'text')
    if (world.mayDuplicate()) serve().catch(() => undefined)
    const answer = await node.answer(serve()).then(
      ({ json }): Answer => ({ outcome: 'accepted', json: JSON.parse(json) }),
      (error): Answer => {
        if (error instanceof NodeKilled) throw error
        return { outcome: 'refused', code: error.code ?? 'InternalError' }
      },
    )
    await world.time.sleep(world.delayMs())
    if (isLost()) throw new Broken()
    return answer
  }
}

/** Or that the storage was away. */
function ignoreBroken(error: unknown): void {
  const isExpected = error instanceof Broken || error instanceof NodeKilled
  if (!isExpected && !String((error as Error).message).includes('simulated')) throw error
}
