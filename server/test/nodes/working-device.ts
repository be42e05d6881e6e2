// A device that runs its pending executions on any node, like our agent: an execution that it has begun is not begun again when it
// is sent again; the device reports its end. When a node does not respond for a while, the device uses another one.

import { setTimeout as delay } from 'node:timers/promises'
import { deviceCalls } from '@jobcast/testkit/call-device'
import { type Answer, type Json, LineClosed, MqttLine, NotLetIn } from '@jobcast/testkit/mqtt-line'
import { accepted, deviceFilters } from '@jobcast/testkit/simulated-device'

export type NodeAddress = { http: string; mqtt: string }
export type Way = 'mqtt' | 'web-socket' | 'http'

type WorkingDeviceOptions = {
  deviceId: string
  token: string
  way: Way
  /** Any node, also one that is gone or stands still. */
  pickNode: () => NodeAddress
  /** It was killed: another program of this machine may have its port by now, and refuses whoever it does not know. */
  isGone: (node: NodeAddress) => boolean
  /** The end of an execution was acknowledged. */
  onEnded: () => void
  /** How it ends what it was handed; SUCCEEDED by default. */
  endAs?: (execution: Json) => 'SUCCEEDED' | 'FAILED'
  /** Everything that it was handed, and every report with what came of it, in order. */
  onStep?: (step: DeviceStep) => void
}

/** `refused`: the execution has ended already. `unknown`: no answer came. */
export type DeviceStep = {
  deviceId: string
  jobExecutionId: number
  attempt: number
} & ({ kind: 'handed' } | { kind: 'reported'; status: string; answer: 'accepted' | 'refused' | 'unknown' })

/** Maximum time to wait for a node that does not respond. */
const waitLimitMs = 3000
const pollSeconds = 2
const backoffMs = 50
const notAuthorized = 0x87

export class WorkingDevice {
  readonly deviceId: string
  readonly begun = new Set<number>()
  /** Attempts, as `<id> <attempt>`. */
  readonly #ended = new Set<string>()
  readonly #options: WorkingDeviceOptions
  #line: MqttLine | undefined
  #isOver = false
  #news = Promise.withResolvers<void>()

  constructor(options: WorkingDeviceOptions) {
    this.#options = options
    this.deviceId = options.deviceId
  }

  /** Lives until it is stopped; rejects when the server does what it must not. */
  async live(): Promise<void> {
    while (!this.#isOver) {
      const node = this.#options.pickNode()
      try {
        if (this.#options.way === 'http') await this.#workByHttp(node)
        else await this.#workByMqtt(this.#options.way === 'mqtt' ? node.mqtt : node.http)
      } catch (error) {
        this.#line?.cut()
        if (!isTrouble(error) && !this.#options.isGone(node)) throw error
        // A fleet that meets a node that is gone must not keep the machine busy with that alone.
        await delay(backoffMs)
      }
    }
  }

  stop(): void {
    this.#isOver = true
    this.#line?.cut()
  }

  async #workByMqtt(address: string): Promise<void> {
    const { deviceId, token } = this.#options
    const opening = MqttLine.open(address, { deviceId, token })
    // One that is opened after all must not stay.
    const line = await inTime(opening).catch((error) => {
      opening.then((late) => late.cut()).catch(() => undefined)
      throw error
    })
    this.#line = line
    line.onNotice = (suffix, json) => {
      if (suffix === 'notify-next' && json.execution) this.#news.resolve()
    }
    await inTime(line.subscribe(...deviceFilters))
    while (!this.#isOver) {
      this.#news = Promise.withResolvers()
      const { execution } = available(await inTime(line.request('start-next', {})))
      if (execution) {
        await this.#carryOut(execution, async (report) => {
          const end = await inTime(line.request(`${execution.jobId}/update`, report))
          // One whose report was not answered may be done.
          if (end.json.code === 'InvalidStateTransition') return 'refused'
          available(end)
          return 'accepted'
        })
      } else {
        // A suspended node cannot be distinguished from an idle one, so the device sends a request now and then.
        await inTime(Promise.race([this.#news.promise, line.closed])).catch(ignoreSilence)
      }
    }
  }

  async #workByHttp({ http }: NodeAddress): Promise<void> {
    const { deviceId, token } = this.#options
    const device = deviceCalls(http, deviceId, token)
    const signal = AbortSignal.timeout(pollSeconds * 1000 + waitLimitMs)
    ok(await device.call('GET', `?wait=${pollSeconds}`, undefined, { signal }))
    const { execution } = ok(await device.call('PUT', '/$next', undefined, { signal }))
    if (execution === undefined) return
    await this.#carryOut(execution, async (report) => {
      const reply = await device.call('POST', `/${execution.jobId}`, report, { signal })
      if (reply.status === 409) return 'refused'
      ok(reply)
      return 'accepted'
    })
  }

  async #carryOut(execution: Json, send: (report: object) => Promise<'accepted' | 'refused'>): Promise<void> {
    const { onStep, endAs, onEnded } = this.#options
    const { jobId, executionNumber } = execution
    const jobExecutionId = Number(jobId)
    const attempt = `${jobId} ${executionNumber}`
    const step = { deviceId: this.deviceId, jobExecutionId, attempt: executionNumber }
    onStep?.({ ...step, kind: 'handed' })
    if (this.#ended.has(attempt)) {
      throw new Error(`execution ${jobId} came again after its end was acknowledged`)
    }
    this.begun.add(jobExecutionId)
    const status = endAs?.(execution) ?? 'SUCCEEDED'
    let answer: 'accepted' | 'refused' | 'unknown' = 'unknown'
    try {
      answer = await send({ status, executionNumber })
    } finally {
      onStep?.({ ...step, kind: 'reported', status, answer })
    }
    this.#ended.add(attempt)
    onEnded()
  }
}

class Unavailable extends Error {}
class TooSlow extends Error {}

function isTrouble(error: unknown): boolean {
  const isNetwork =
    error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')
  const isRefused = error instanceof NotLetIn && error.code !== notAuthorized
  return isNetwork || isRefused || [LineClosed, Unavailable, TooSlow].some((kind) => error instanceof kind)
}

/** What it was accepted with, unless the database is away. */
function available(answer: Answer): Json {
  if (answer.json.code === 'InternalError') throw new Unavailable()
  return accepted(answer)
}

function ok({ status, json, text }: { status: number; json: Json; text: string }): Json {
  // 408: the node stood still while the request was on its way.
  if (status === 503 || status === 408) throw new Unavailable()
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  return json
}

function ignoreSilence(error: unknown): void {
  if (!(error instanceof TooSlow)) throw error
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  const end = new AbortController()
  const late = delay(waitLimitMs, undefined, { signal: end.signal }).then(() => Promise.reject(new TooSlow()))
  late.catch(() => undefined)
  promise.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    end.abort()
  }
}
