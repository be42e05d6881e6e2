// A caller that triggers without a pause, whatever happens to the server, and records the responses.

import assert from 'node:assert/strict'
import type { Api } from './call-api.ts'
import type { Random } from './seeded-random.ts'

export type TriggerCall = {
  readonly deviceIds: readonly string[]
  /** Retried with this key until it is answered, or the test ends. */
  readonly key: string | undefined
  /** One of its devices does not exist. */
  readonly isBad: boolean
  /** The whole 201, if it was read. */
  answer?: { runId: number; body: string }
}

export class TriggerCaller {
  readonly jobName: string
  readonly calls: TriggerCall[] = []
  /** Number of responses, including refusals and repeated ones. */
  answers = 0
  readonly #random: Random
  /** If set, a 503 counts as no answer. */
  readonly #diskMayFail: boolean
  readonly #devices: readonly string[]

  constructor(jobName: string, devices: readonly string[], random: Random, diskMayFail = false) {
    this.#diskMayFail = diskMayFail
    this.jobName = jobName
    this.#devices = devices
    this.#random = random
  }

  /** `server` returns the server that runs, or will run next. */
  async callUntil(isOver: () => boolean, server: () => Promise<Api>): Promise<void> {
    while (!isOver()) {
      const call = this.#newCall()
      this.calls.push(call)
      let answered = await this.send(call, await server(), isOver)
      while (call.key !== undefined && !answered && !isOver())
        answered = await this.send(call, await server(), isOver)
      if (call.key !== undefined && this.#random.chance(0.3)) await this.send(call, await server(), isOver)
    }
  }

  /**
   * Returns true if there was an answer. Every further answer to the same key must equal the first. On a disk that may fail,
   * answers after the end do not count: after a real power cut, nobody would receive them.
   */
  async send(call: TriggerCall, api: Api, isOver: () => boolean = () => false): Promise<boolean> {
    const headers: Record<string, string> = call.key === undefined ? {} : { 'idempotency-key': call.key }
    const reply = await api.trigger(this.jobName, call.deviceIds, { headers }).catch(() => undefined)
    if (reply === undefined || (this.#diskMayFail && (reply.status === 503 || isOver()))) return false
    this.answers++
    if (call.isBad) {
      assert.deepEqual([reply.status, reply.json.code], [404, 'J-001'])
      return true
    }
    assert.equal(reply.status, 201, reply.text)
    const runId = Number(reply.headers.get('location')?.split('/').at(-1))
    const answer = { runId, body: reply.text }
    call.answer ??= answer
    assert.deepEqual(answer, call.answer, 'a retry was answered otherwise')
    return true
  }

  #newCall(): TriggerCall {
    const random = this.#random
    const most = random.pick([1, 1, 1, 20, 100, 1000])
    const deviceIds = random.some(this.#devices, 1 + random.below(most))
    if (random.chance(0.1)) deviceIds.push(random.pick(deviceIds))
    const isBad = random.chance(0.15)
    if (isBad) deviceIds.splice(random.below(deviceIds.length + 1), 0, 'no-such-device')
    const key = random.chance(0.35) ? `${this.jobName}-${this.calls.length}` : undefined
    return { deviceIds, key, isBad }
  }
}
