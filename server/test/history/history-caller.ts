// A caller that triggers, with and without an idempotency key, and records all responses.

import { setTimeout as delay } from 'node:timers/promises'
import { buildApi, type Reply } from '@jobcast/testkit/call-api'
import type { Random } from '@jobcast/testkit/seeded-random'
import { within } from '@jobcast/testkit/within'
import type { RecordedCall } from './history.ts'
import { pickRollout } from './pick-rollout.ts'
import { historyWindows, largeJob, largeTag, secretJob } from './seed-owner.ts'
import { steerRun } from './steer-runs.ts'
import { type TriggerAnswer, toTriggerAnswer } from './trigger-answer.ts'

type HistoryCallerOptions = {
  jobName: string
  deviceIds: readonly string[]
  random: Random
  pickNode: () => { http: string; adminKey: string }
  /** Resolves when the next call may be made. */
  mayCall: () => Promise<void>
  isOver: () => boolean
  /** Devices of large runs, in their order; none: it makes no large runs. */
  large: readonly string[]
  windows: boolean
}

/** What is sent instead of a trigger. */
type RunBody = { jobName: string; targets: object; [option: string]: unknown }

/** A suspended node does not respond; callers use another node after this time. */
const waitLimitMs = 3000
const backoffMs = 50
/** Repeats of a call with a key, while the service is away. */
const mostRepeats = 100
const maxDevices = 12
/** Each of them is ten thousand executions. */
const largeRuns = 1

export class HistoryCaller {
  readonly calls: RecordedCall[] = []
  readonly #options: HistoryCallerOptions
  readonly #late = new Set<Promise<void>>()
  /** By run: the secret that it was given. */
  readonly secrets = new Map<number, string>()
  readonly #bodies = new Map<RecordedCall, RunBody>()
  #words = 0
  #largeRuns = 0

  constructor(options: HistoryCallerOptions) {
    this.#options = options
  }

  async callUntilOver(): Promise<void> {
    const { random, isOver, mayCall } = this.#options
    while (!isOver()) {
      await mayCall()
      if (isOver()) break
      const call = this.#newCall()
      const answer =
        call.key === undefined ? await this.#send(call) : await this.#sendUntilAnswered(call, call.key)
      if (answer.kind === 'created' && random.chance(0.1)) await this.#cancel(answer.runId)
      if (answer.kind === 'created' && this.#bodies.get(call)?.rollout)
        await steerRun(this.#options.pickNode, random, answer.runId)
    }
    await Promise.all(this.#late)
  }

  #newCall(key?: string): RecordedCall {
    const { random, jobName, deviceIds } = this.#options
    const chosen = random.some(deviceIds, 1 + random.below(random.pick([1, 1, 4, maxDevices])))
    if (random.chance(0.1)) chosen.push(random.pick(chosen))
    if (key === undefined && random.chance(0.1))
      chosen.splice(random.below(chosen.length), 0, 'no-such-device')
    const call: RecordedCall = {
      jobName: key === undefined && random.chance(0.05) ? `no-${jobName}` : jobName,
      deviceIds: chosen,
      key: key ?? (random.chance(0.4) ? `${jobName}-${this.calls.length}` : undefined),
      answers: [],
    }
    return this.#record(key === undefined ? this.#asRun(call) : call)
  }

  #record(call: RecordedCall): RecordedCall {
    this.calls.push(call)
    return call
  }

  /** Some are runs with a rollout, in a window, with a secret, or on more devices than one write holds. */
  #asRun(call: RecordedCall): RecordedCall {
    const { random, large, windows } = this.#options
    const { jobName, deviceIds } = call
    const body = { jobName, targets: { deviceIds } }
    const as = (made: RecordedCall, sent: RunBody) => {
      const asked = { ...made, asked: JSON.stringify(sent) }
      this.#bodies.set(asked, sent)
      return asked
    }
    if (large.length > 0 && this.#largeRuns < largeRuns && random.chance(0.1)) {
      this.#largeRuns++
      const made = { ...call, jobName: largeJob, deviceIds: large }
      return as(made, { jobName: largeJob, targets: { where: `tag=${largeTag}` } })
    }
    if (random.chance(0.2)) return as(call, { ...body, rollout: pickRollout(random, deviceIds.length) })
    if (windows && random.chance(0.03))
      return as(call, { ...body, window: random.pick(historyWindows).windowName })
    if (!random.chance(0.1)) return call
    const word = `hush-${random.below(2 ** 30)}-${this.#words++}-hush`
    return as({ ...call, jobName: secretJob }, { ...body, jobName: secretJob, parameters: { word } })
  }

  /** Often sent twice at once, sent again after its answer, and now and then with another content. */
  async #sendUntilAnswered(call: RecordedCall, key: string): Promise<TriggerAnswer> {
    const { random, isOver } = this.#options
    for (let sent = 0; ; sent++) {
      const both = await Promise.all([this.#send(call), random.chance(0.2) && this.#send(call)])
      const answer = both.find((each) => each && each.kind === 'created') || both[0]
      const isAnswered = answer.kind === 'created' || (answer.kind === 'refused' && isFinal(answer.code))
      if (isAnswered || isOver() || sent === mostRepeats) {
        if (answer.kind === 'created' && random.chance(0.3)) await this.#send(call)
        if (answer.kind === 'created' && random.chance(0.2)) await this.#send(this.#newCall(key))
        return answer
      }
    }
  }

  async #send(call: RecordedCall): Promise<TriggerAnswer> {
    const { http, adminKey } = this.#options.pickNode()
    const headers = {
      accept: 'application/problem+json, application/json',
      ...(call.key !== undefined && { 'idempotency-key': call.key }),
    }
    const api = buildApi(http, adminKey)
    const body = this.#bodies.get(call)
    const asked = body
      ? api.call('POST', '/job/api/runs', { body, headers })
      : api.trigger(call.jobName, call.deviceIds, { headers })
    const sent = asked
      .then(answerOf)
      .then((answer) => this.#keepSecret(answer, body))
      .catch((error): TriggerAnswer => ({ kind: 'unknown', why: String(error) }))
    const answer = await within(waitLimitMs, 'no answer', sent).catch(
      (error): TriggerAnswer => ({ kind: 'unknown', why: String(error) }),
    )
    call.answers.push(answer)
    if (answer.kind === 'unknown') this.#recordLate(call, sent)
    // After a refusal or a connection error the caller waits, because immediate retries would occupy the machine.
    if (answer.kind !== 'created') await delay(this.#options.random.below(backoffMs))
    return answer
  }

  #keepSecret(answer: TriggerAnswer, body: RunBody | undefined): TriggerAnswer {
    const word = (body?.parameters as { word?: string } | undefined)?.word
    if (answer.kind === 'created' && word !== undefined) this.secrets.set(answer.runId, word)
    return answer
  }

  /** A late response is recorded like any other. */
  #recordLate(call: RecordedCall, sent: Promise<TriggerAnswer>): void {
    const recorded: Promise<void> = sent.then((answer) => {
      this.#late.delete(recorded)
      if (answer.kind !== 'unknown') call.answers.push(answer)
    })
    this.#late.add(recorded)
  }

  /** Whatever comes of it: the histories say whether it counted. */
  async #cancel(runId: number): Promise<void> {
    const { http, adminKey } = this.#options.pickNode()
    const canceled = buildApi(http, adminKey).call('POST', `/job/api/runs/${runId}/cancel`, { body: {} })
    await within(waitLimitMs, 'no answer', canceled).catch(() => undefined)
  }
}

function answerOf({ status, headers, text }: Reply): TriggerAnswer {
  return toTriggerAnswer({ status, location: headers.get('location'), text })
}

/** Not so: the first request with this key is still running, the queue is full, the storage is away. */
const isFinal = (code: string) => !['J-502', 'J-908', 'J-909', 'J-910', 'J-911'].includes(code)
