// A sender on a real store, in simulated time, and a receiver that answers as a test says.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Answer } from '../../../src/dispatch/webhooks/event-poster.ts'
import type { Message } from '../../../src/dispatch/webhooks/sign-event.ts'
import { WebhookSender } from '../../../src/dispatch/webhooks/webhook-sender.ts'
import type { Store } from '../../../src/domain/common/ports/store.ts'
import type { DevicePut } from '../../../src/domain/device/ports/devices.ts'
import type { StoredWebhook } from '../../../src/domain/webhook/ports/webhooks.ts'
import type { ServiceEvent } from '../../../src/observe/events.ts'
import { openSqliteUnderTest } from '../../store/sqlite-under-test.ts'
import { devicePut, seedOwner } from '../../store/store-under-test.ts'
import { createWebhook } from '../../store/webhook-steps.ts'
import { SimulatedTime } from './simulated-time.ts'

type Request = { at: number; eventId: number; deviceId: string; accepted: boolean }

export const accepts: Answer = { status: 204, error: null, retryAfterMs: 0 }
export const isGone: Answer = { status: 410, error: 'the receiver answered 410', retryAfterMs: 0 }
export const refuses: Answer = { status: 500, error: 'the receiver answered 500', retryAfterMs: 0 }

export class SenderUnderTest {
  readonly time = new SimulatedTime()
  readonly told: ServiceEvent[] = []
  readonly requests: Request[] = []
  /** How often progress was written down. */
  writes = 0
  /** How the receiver answers. */
  answer: (request: Omit<Request, 'accepted'>) => Answer | Promise<Answer> = () => accepts
  store: Store
  sender: WebhookSender
  #steps: Store
  #webhook: StoredWebhook
  #isKilled = { value: false }
  #changes = 0
  /** Of the events of all changes. */
  readonly #ids: number[] = []

  private constructor(store: Store, webhook: StoredWebhook) {
    this.store = store
    this.#steps = store
    this.#webhook = webhook
    this.sender = this.#start()
  }

  static async open(
    t: TestContext,
    more: Parameters<typeof createWebhook>[3] = {},
  ): Promise<SenderUnderTest> {
    const { store } = await openSqliteUnderTest(t)
    const { ownerNo } = await seedOwner(store, { devices: [] })
    const opened = new SenderUnderTest(store, await createWebhook(store, ownerNo, 'w', more))
    t.after(() => opened.sender.stop())
    return opened
  }

  get ownerNo(): number {
    return this.#webhook.ownerNo
  }

  async webhook(): Promise<StoredWebhook> {
    const webhook = await this.store.getWebhook(this.#webhook)
    assert.ok(webhook)
    return { ...webhook, cursor: this.ordinalOf(webhook.cursor) }
  }

  /** How many changes there were up to this event. The log has other events too: those of the webhook itself. */
  ordinalOf(eventId: number): number {
    return this.#ids.findLastIndex((id) => id <= eventId) + 1
  }

  /** The event of a change: the first is 1. */
  idOf(ordinal: number): number {
    return this.#ids[ordinal - 1] ?? 0
  }

  /** What became of each event, oldest first: `1 DELIVERED 2` has two attempts. */
  async deliveries(): Promise<string[]> {
    const found = await this.store.listDeliveries({
      ...this.#webhook,
      state: undefined,
      slice: {
        after: undefined,
        limit: 10_000,
      },
    })
    assert.ok(found)
    return found.items
      .toReversed()
      .map(({ eventId, state, attempts }) => `${this.ordinalOf(eventId)} ${state} ${attempts.length}`)
  }

  /** One event each. */
  async change(...deviceIds: string[]): Promise<void> {
    let puts = new Map<string, DevicePut>()
    for (const deviceId of deviceIds) {
      // A device once in a commit: two changes in the same one would be one event.
      if (puts.has(deviceId)) {
        await this.store.putDevices([...puts.values()])
        puts = new Map()
      }
      puts.set(deviceId, devicePut(this.ownerNo, deviceId, `change ${++this.#changes}`))
    }
    if (puts.size > 0) await this.store.putDevices([...puts.values()])
    await this.#readIds()
  }

  async #readIds(): Promise<void> {
    const filter = { types: ['device.*'] }
    for (let isMore = true; isMore; ) {
      const slice = { after: this.#ids.at(-1) ?? 0, limit: 10_000 }
      const page = await this.store.listEvents({ ownerNo: this.ownerNo, filter, slice })
      this.#ids.push(...page.events.map(({ eventId }) => eventId))
      isMore = page.more && page.events.length > 0
    }
  }

  /** The ids of what was sent, in the order it was. */
  get sent(): number[] {
    return this.requests.map(({ eventId }) => eventId)
  }

  async changed(): Promise<void> {
    this.sender.changed(this.#webhook.webhookNo)
    await this.time.quiet()
  }

  /** The process is gone from one moment to the next: whatever it has not written by now is lost. */
  kill(): void {
    this.#isKilled.value = true
  }

  /** Another process starts on what is on disk. */
  async killAndStart(): Promise<void> {
    this.kill()
    await this.time.quiet()
    await this.sender.stop()
    this.sender = this.#start()
    await this.time.quiet()
  }

  /** From now on these steps of the store are taken by something else. */
  disturb(steps: Partial<Store>): void {
    Object.assign(this.#disturbed, steps)
  }

  calm(): void {
    for (const name of Object.keys(this.#disturbed)) delete this.#disturbed[name as keyof Store]
  }

  readonly #disturbed: Partial<Store> = {}

  #start(): WebhookSender {
    const killed = { value: false }
    this.#isKilled = killed
    const steps = new Proxy(this.#steps, {
      get: (target, name: keyof Store) => {
        // What a dead process writes does not reach the disk.
        if (killed.value && name === 'recordAttempts') return async () => undefined
        if (name === 'recordAttempts') this.writes++
        return this.#disturbed[name] ?? target[name]
      },
    })
    const sender = new WebhookSender({
      store: this.time.watch(steps),
      clock: this.time,
      chance: () => 0.5,
      tell: (event) => this.told.push(event),
      poster: {
        close: () => undefined,
        post: async (message) => (killed.value ? undefined : this.#receive(message)),
      },
    })
    sender.start()
    return sender
  }

  async #receive({ body }: Message): Promise<Answer> {
    const { data } = JSON.parse(body)
    // By its number, which its name has, not by the id of its event.
    const eventId = Number(data.deviceName.slice('change '.length))
    const request = { at: this.time.elapsed(), eventId, deviceId: data.deviceId, accepted: false }
    this.requests.push(request)
    const answer = await this.answer(request)
    request.accepted = answer.error === null
    return answer
  }
}

/** Of each device the accepted events are in the order of their ids; what came twice is what came before. */
export function assertInOrder(requests: Request[]): void {
  const accepted = requests.filter((request) => request.accepted)
  for (const [deviceId, ofDevice] of Map.groupBy(accepted, (request) => request.deviceId)) {
    const ids = [...new Set(ofDevice.map(({ eventId }) => eventId))]
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
      deviceId,
    )
  }
}

/** Every event from 1 on was accepted. */
export function assertAllAccepted(requests: Request[], count: number): void {
  const accepted = requests.filter((request) => request.accepted).map(({ eventId }) => eventId)
  assert.deepEqual(
    [...new Set(accepted)].toSorted((a, b) => a - b),
    Array.from({ length: count }, (_, index) => index + 1),
  )
}
