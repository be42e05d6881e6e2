// One owner of a history: its callers, devices, followers and webhook receiver, and their observations.

import type { Run } from '@jobcast/contract'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { type DeviceStep, type NodeAddress, type Way, WorkingDevice } from '../nodes/working-device.ts'
import { isSentByDefault } from './check-events.ts'
import { checkHistory } from './check-history.ts'
import type { Cleanup } from './disturbed-service.ts'
import type { Final, History, RecordedSchedule } from './history.ts'
import { HistoryCaller } from './history-caller.ts'
import { HistoryFollower } from './history-follower.ts'
import { isChosen, openReceiver, pendingDeliveries, putWebhook } from './history-receiver.ts'
import { readFinal } from './read-final.ts'
import { each, historyWindows, minutely, secretJob, seedOwner } from './seed-owner.ts'
import { endRollouts } from './steer-runs.ts'

export type OwnerScale = {
  callers: number
  devices: Record<Way, number>
  followers: number
  /** So many executions may be unfinished at a time; then callers wait. */
  maxOpen: number
  /** The part of events that the webhook receiver refuses at first; each delays the end by five seconds. */
  refusedPosts: number
  /** Devices of each large run; 0: there are none. */
  largeRun: number
  /** Some runs wait for their window, up to a minute. */
  windows: boolean
}

type OwnerOptions = {
  name: string
  key: string
  /** A key that may approve what the other has made. */
  approverKey: string
  seed: number
  scale: OwnerScale
  newRandom: () => Random
  pickNode: (random: Random) => NodeAddress
  onEnded: () => void
  isOver: () => boolean
}

/** Until everybody has what is stored: far above what it takes, a retry of a webhook included. */
const settleMs = 90_000
const failsafeMs = 240_000
/** An occurrence runs late on a service that is disturbed. */
const scheduleLateMs = 30_000
const minuteMs = 60_000

export class HistoryOwner {
  readonly problems: string[] = []
  readonly callers: HistoryCaller[] = []
  readonly followers: HistoryFollower[] = []
  final: Final | undefined
  readonly #options: OwnerOptions
  readonly #receiver: WebhookReceiver
  readonly #webhookAfter: number
  readonly #schedulesAt: number
  readonly #steps: DeviceStep[] = []
  readonly #documents = new Map<number, unknown>()
  readonly #fleet: WorkingDevice[]
  #following: Promise<unknown>[] = []
  #calling: Promise<unknown>[] = []
  #schedulesUntil = Number.POSITIVE_INFINITY
  #open = 0

  static async open(t: Cleanup, api: Api, options: OwnerOptions): Promise<HistoryOwner> {
    const { scale, seed } = options
    const ways = Object.entries(scale.devices).flatMap(([way, count]) => Array<Way>(count).fill(way as Way))
    const deviceIds = ways.map((_, index) => `device-${index + 1}`)
    const jobs = Array.from({ length: scale.callers }, (_, index) => `job-${index}`)
    const large = Array.from(
      { length: scale.largeRun },
      (_, index) => `fleet-${String(index).padStart(6, '0')}`,
    )
    const { tokens, schedulesAt } = await seedOwner(api, jobs, deviceIds, large)
    const receiver = await openReceiver(t, seed, scale.refusedPosts)
    const webhookAfter = await putWebhook(api, receiver)
    const owner = new HistoryOwner(options, receiver, { webhookAfter, schedulesAt, tokens, ways })
    owner.#start(jobs, deviceIds, large)
    t.after(() => owner.#stop())
    return owner
  }

  private constructor(
    options: OwnerOptions,
    receiver: WebhookReceiver,
    seeded: { webhookAfter: number; schedulesAt: number; tokens: Map<string, string>; ways: Way[] },
  ) {
    this.#options = options
    this.#receiver = receiver
    this.#webhookAfter = seeded.webhookAfter
    this.#schedulesAt = seeded.schedulesAt
    const { seed, onEnded } = options
    const tokens = [...seeded.tokens]
    this.#fleet = seeded.ways.map((way, index) => {
      const [deviceId, token] = tokens[index] as [string, string]
      return new WorkingDevice({
        ...{ deviceId, token, way, onEnded, pickNode: this.#picker(), isGone: () => false },
        onStep: (step) => void this.#steps.push(step),
        endAs: ({ jobId, executionNumber, jobDocument }) => {
          this.#documents.set(Number(jobId), jobDocument)
          return isChosen(seed, jobId, executionNumber, 0.1) ? 'FAILED' : 'SUCCEEDED'
        },
      })
    })
  }

  #picker() {
    const { newRandom, pickNode, key } = this.#options
    const own = newRandom()
    return () => ({ ...pickNode(own), adminKey: key })
  }

  #start(jobs: string[], deviceIds: string[], large: string[]): void {
    const { scale, newRandom, isOver, approverKey } = this.#options
    for (const device of this.#fleet) {
      device.live().catch((error) => this.problems.push(`device ${device.deviceId}: ${error.message}`))
    }
    for (let count = 0; count < scale.followers; count++) {
      this.followers.push(new HistoryFollower({ pickNode: this.#picker(), random: newRandom() }))
    }
    this.#following = this.followers.map((follower) => follower.followUntilStopped())
    const mayCall = async () =>
      void (await waitUntil(
        () => `fewer than ${this.#open} are open`,
        () => isOver() || this.#open < scale.maxOpen,
        {
          timeoutMs: failsafeMs,
          intervalMs: 10,
        },
      ))
    for (const [index, jobName] of jobs.entries()) {
      const options = { jobName, deviceIds, random: newRandom(), pickNode: this.#picker(), mayCall, isOver }
      this.callers.push(
        new HistoryCaller({ ...options, large: index === 0 ? large : [], windows: scale.windows }),
      )
    }
    this.#calling = [...this.callers.map((caller) => caller.callUntilOver()), this.#countOpen()]
    const isEnded = () => this.final !== undefined || this.#isStopped
    void endRollouts({ pickNode: this.#picker(), approverKey, isOver: isEnded })
  }

  #isStopped = false

  #stop(): void {
    this.#isStopped = true
    for (const each of [...this.#fleet, ...this.followers]) each.stop()
  }

  /** Resolves when no caller calls any more, and no schedule makes runs. */
  async quiet(api: Api): Promise<void> {
    await Promise.all(this.#calling)
    for (const name of [minutely, each]) {
      const isPaused = async () =>
        (await api.call('POST', `/job/api/schedules/${name}/pause`, { body: {} })).status === 200
      await waitUntil(`schedule ${name} is paused`, isPaused)
    }
    this.#schedulesUntil = Date.now()
  }

  async readFinal(api: Api): Promise<boolean> {
    this.final ??= await readFinal(api, this.#webhookAfter)
    return this.final !== undefined
  }

  /** Everybody gets what is stored; whoever lacks something then is found out by the checks. */
  async settle(api: Api): Promise<void> {
    const log = this.final?.log ?? []
    const newest = log.at(-1)?.eventId ?? 0
    const wanted = log.filter(({ eventId, type }) => eventId > this.#webhookAfter && isSentByDefault(type))
    const hasAll = () => {
      const accepted = new Set(this.#receiver.accepted.map(({ event }) => event.eventId))
      return wanted.every(({ eventId }) => accepted.has(eventId))
    }
    const settled = { timeoutMs: settleMs, intervalMs: 100 }
    const hasSeen = () => this.followers.every(({ upTo }) => upTo >= newest)
    await waitUntil('', hasSeen, settled).catch(() => undefined)
    const isDelivered = await waitUntil('', hasAll, settled).then(
      () => true,
      () => false,
    )
    if (!isDelivered) this.problems.push(`deliveries that are not done: ${await pendingDeliveries(api)}`)
    this.#stop()
    await Promise.all(this.#following)
  }

  get history(): History {
    return {
      calls: this.callers.flatMap(({ calls }) => calls),
      steps: this.#steps,
      followers: this.followers.map(({ seen }) => seen),
      posts: this.#receiver.received,
      schedules: this.#schedules(),
      windows: historyWindows,
    }
  }

  check(): string[] {
    const { name } = this.#options
    if (this.final === undefined) return [`${name}: nothing was read`]
    const found = [
      ...this.problems,
      ...this.followers.flatMap((follower) => follower.problems),
      ...checkHistory(this.history, this.final),
      ...this.#checkSecrets(this.final),
    ]
    return found.map((what) => `${name}: ${what}`)
  }

  #schedules(): RecordedSchedule[] {
    const due: number[] = []
    const until = this.#schedulesUntil
    for (let at = Math.ceil(this.#schedulesAt / minuteMs) * minuteMs; at <= until; at += minuteMs)
      due.push(at)
    return [
      { scheduleName: minutely, due, handledUntil: until - scheduleLateMs },
      { scheduleName: each, due: undefined },
    ]
  }

  /** Checks that only devices got the secret of their run. */
  #checkSecrets(final: Final): string[] {
    const secrets = new Map(this.callers.flatMap(({ secrets: own }) => [...own]))
    const shown = JSON.stringify([final.runs, final.executions, final.log, [...final.transitions]])
    const told = [...secrets.values()].filter((word) => shown.includes(word))
    const wrong = final.executions.flatMap(({ jobExecutionId, runId, jobName }) => {
      const [word, document] = [secrets.get(runId), this.#documents.get(jobExecutionId)]
      if (jobName !== secretJob || word === undefined || document === undefined) return []
      const text = typeof document === 'string' ? document : JSON.stringify(document)
      return text === JSON.stringify({ word })
        ? []
        : [`execution ${jobExecutionId} was handed ${text}, not its secret`]
    })
    return [...told.map((word) => `${word} can be read by who may not see it`), ...wrong]
  }

  /** Counted by asking: an end whose answer got lost is one all the same. */
  async #countOpen(): Promise<void> {
    const { isOver } = this.#options
    const pick = this.#picker()
    const look = async () => {
      const { http, adminKey } = pick()
      const reply = await buildApi(http, adminKey)
        .call('GET', '/job/api/runs?finished=false&limit=200')
        .catch(() => undefined)
      if (reply?.status === 200) this.#open = sumOpen(reply.json.items)
      return isOver() || this.#isStopped
    }
    await waitUntil('it is over', look, { timeoutMs: Number.POSITIVE_INFINITY, intervalMs: 100 })
  }
}

const sumOpen = (runs: Run[]) =>
  runs
    .filter(({ window }) => window === null)
    .reduce((sum, { counts }) => sum + counts.PENDING + counts.IN_PROGRESS + counts.CANCELING, 0)

export const randomsOf = (seed: number) => {
  let part = 0
  return () => seededRandom(seed * 1000 + part++)
}
