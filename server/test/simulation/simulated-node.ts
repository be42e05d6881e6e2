// The core of the server as it is: group commit, dispatcher, presence, timers, waits and the SQLite store, on a database
// in memory that outlives it. It can be killed at any instant and started again.

import { EventEmitter } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import type { Random } from '@jobcast/testkit/seeded-random'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startBackground } from '../../src/background/background-tasks.ts'
import { buildParts, type Parts } from '../../src/build-parts.ts'
import { buildClock } from '../../src/dispatch/webhooks/clock.ts'
import { WebhookSender } from '../../src/dispatch/webhooks/webhook-sender.ts'
import { noQuotas } from '../../src/domain/access/quotas.ts'
import { type HeldRequest, holdRequest } from '../../src/http/connections/held-request.ts'
import { buildMetrics } from '../../src/observe/metrics.ts'
import { SecretBox } from '../../src/state/secret-box.ts'
import { SteadyClock } from '../../src/state/steady-clock.ts'
import { type Catalogue, loadCatalogue } from '../../src/store/sqlite/catalogue.ts'
import { dropDrafts } from '../../src/store/sqlite/draft-writer.ts'
import { prepareReads, prepareWrites } from '../../src/store/sqlite/operations.ts'
import { buildSqliteStore, type StoreParts } from '../../src/store/sqlite/sqlite-store.ts'
import { readLastIds } from '../../src/store/sqlite/triggers.ts'
import type { SimulatedReceiver } from './simulated-receiver.ts'
import { SimulatedThread, type ThreadConditions } from './simulated-thread.ts'
import type { VirtualTime } from './virtual-time.ts'

const dayMs = 24 * 60 * 60_000
const noLimits = { address: 0, 'sign-in': 0, key: 0, owner: 0, device: 0, session: 0 }

type NodeOptions = {
  db: DatabaseSync
  time: VirtualTime
  random: Random
  conditions: ThreadConditions
  /** Leaves out the sweep and the greeting of devices: a defect that a simulation must find. */
  withoutRechecks: boolean
  post: SimulatedReceiver['post']
}

const secretKey = Buffer.alloc(32, 'simulated')

export class SimulatedNode {
  readonly parts: Parts & { webhooks: WebhookSender }
  /** Rejects when it is killed. */
  readonly killed: Promise<never>
  isKilled = false
  readonly steady: SteadyClock
  /** What the store keeps in memory. */
  readonly catalogue: Catalogue
  readonly #threads: SimulatedThread[]
  readonly #background: { stop(): Promise<void> }
  readonly #stopping = new AbortController()
  readonly #end = Promise.withResolvers<never>()

  constructor({ db, time, random, conditions, withoutRechecks, post }: NodeOptions) {
    this.killed = this.#end.promise
    this.killed.catch(() => undefined)
    const drafts = { hasWaiters: () => random.chance(0.5), batchSize: 2 }
    const writer = new SimulatedThread((listener) => prepareWrites(db, listener, drafts), time, conditions)
    const reader = new SimulatedThread(() => prepareReads(db), time, conditions)
    this.#threads = [writer, reader]
    dropDrafts(db)
    this.catalogue = loadCatalogue(db)
    const store = buildSqliteStore({
      catalogue: this.catalogue,
      lastIds: readLastIds(db),
      writer: writer as unknown as StoreParts['writer'],
      reader: reader as unknown as StoreParts['reader'],
      largeFrom: 3,
      onClosed: () => undefined,
    })
    const { now } = time
    const elapsed = () => time.elapsed
    this.steady = new SteadyClock(now, elapsed)
    const parts = buildParts({
      store,
      tell: () => undefined,
      metrics: buildMetrics({ ofProcess: false }),
      now,
      elapsed,
      moment: () => ({
        at: now(),
        clock: this.steady.now(),
        chance: random.below(1000) / 1000,
        cancelDeadlineMs: 5000,
      }),
      stopping: this.#stopping.signal,
      maxOutputBytes: 1000,
      rates: noLimits,
      sessionIdleMs: 60 * 60_000,
      quotas: noQuotas,
      isRemote: random.chance(0.3),
      isAllowedAddress: () => false,
      secretBox: new SecretBox([secretKey]),
    })
    const webhooks = new WebhookSender({
      ...{ store, tell: () => undefined, clock: buildClock(now, elapsed) },
      chance: () => random.below(1000) / 1000,
      poster: { post: (message) => this.answer(post(message)), close: () => undefined },
    })
    this.parts = { ...parts, webhooks }
    webhooks.start()
    const { dispatcher } = parts
    if (withoutRechecks) {
      dispatcher.sweep = async () => undefined
      dispatcher.greet = () => undefined
    }
    const keep = { keepEventsMs: dayMs, keepAuditMs: dayMs, keepExecutionsMs: undefined }
    this.#background = startBackground({ ...this.parts, ...keep, ownNow: now }, dispatcher)
  }

  /** Nothing is on its way to the database or back. */
  get isIdle(): boolean {
    return this.#threads.every(({ isIdle }) => isIdle)
  }

  /** Like kill -9: no responses are sent, and uncommitted changes are lost. */
  kill(): void {
    this.isKilled = true
    for (const thread of this.#threads) thread.kill()
    // Nobody hears any more from these. They end so that their memory is freed: a process simulates thousands of nodes.
    void this.#background.stop().catch(() => undefined)
    this.#stopping.abort()
    this.#end.reject(new NodeKilled())
  }

  /** What it answers, unless it is killed before. */
  readonly answer = <T>(promise: Promise<T>): Promise<T> => Promise.race([promise, this.killed])

  /** A request that is held, as by HTTP; `leave` when its caller goes. */
  hold(apiKey: string, waitSeconds?: number): HeldRequest & { leave: () => void } {
    const raw = Object.assign(new EventEmitter(), { headersSent: false })
    const request = { headers: { 'x-api-key': apiKey } } as unknown as FastifyRequest
    const held = holdRequest(this.parts, request, { raw } as unknown as FastifyReply, waitSeconds)
    return { ...held, leave: () => void raw.emit('close') }
  }
}

export class NodeKilled extends Error {}
