// The interface of a device for tests, with any client library.

/** JSON as the device read it. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
export type Json = any

/** The four operations; each gives the accepted answer and throws Refused for a rejection. */
export type DeviceClient = {
  getPending(): Promise<Json>
  startNext(request?: Json): Promise<Json>
  describe(jobId: string, request?: Json): Promise<Json>
  update(jobId: string, request: Json): Promise<Json>
}

/** Notices for a device; over MQTT it has subscribed to all of them. */
export type Inboxes = {
  readonly notify: Inbox<Json>
  readonly notifyNext: Inbox<Json>
  /** The payload, and whom it is about. */
  readonly cancel: Inbox<{ jobId: string; message: Json }>
}

export type MqttDeviceClient = DeviceClient & Inboxes

export class Refused extends Error {
  readonly code: string
  readonly answer: Json

  constructor(code: string, answer: Json) {
    super(`${code}: ${answer?.message}`)
    this.name = 'Refused'
    this.code = code
    this.answer = answer
  }
}

/** Far above what any answer takes: it is here so that a lost one fails a test instead of hanging it. */
const waitLimitMs = 120_000

/** Messages in the order they came, taken one after the other. */
export class Inbox<T> {
  readonly #name: string
  readonly #kept: T[] = []
  #waiting: ((message: T) => void) | undefined

  constructor(name: string) {
    this.#name = name
  }

  put(message: T): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting(message)
    else this.#kept.push(message)
  }

  take(): Promise<T> {
    if (this.#waiting) throw new Error(`two wait for ${this.#name}`)
    const [message] = this.#kept.splice(0, 1)
    if (message !== undefined) return Promise.resolve(message)
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        this.#waiting = undefined
        reject(new Error(`nothing came on ${this.#name}`))
      }, waitLimitMs)
      this.#waiting = (message) => {
        clearTimeout(giveUp)
        resolve(message)
      }
    })
  }

  /** All that came and was not taken; empties it. */
  takeAll(): T[] {
    return this.#kept.splice(0)
  }
}

export function buildInboxes(): Inboxes {
  return {
    notify: new Inbox('notify'),
    notifyNext: new Inbox('notify-next'),
    cancel: new Inbox('cancel'),
  }
}
