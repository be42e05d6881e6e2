// Requests that wait for an earlier one of the same device. Each counts against the number of messages that the broker may have
// in flight, so it is limited per device: otherwise one device could starve the others.

type Waiting = { isReport: boolean }

type Line<T extends Waiting> = { waiting: T[]; questions: number }

/** Requests other than reports; a device can repeat them. */
const maxQuestions = 20
/** All requests including reports: enough for the backlog of a device that was offline. */
const maxWaiting = 500
/** Lines up to this length are not cut. */
const shortLine = 10
/**
 * A cut frees no room at once: earlier requests of the connection have to be acknowledged first. Also, it goes through all
 * lines.
 */
const cutEveryMs = 100

export class DeviceLines<T extends Waiting> {
  readonly #lines = new Map<string, Line<T>>()
  readonly #elapsed: () => number
  #cutAt = Number.NEGATIVE_INFINITY

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  hasRoom(deviceId: string, { isReport }: Waiting): boolean {
    const line = this.#lines.get(deviceId)
    if (line === undefined) return true
    return line.waiting.length < maxWaiting && (isReport || line.questions < maxQuestions)
  }

  /** True: no request of this device is being served, so serve this one now. */
  add(deviceId: string, request: T): boolean {
    const line = this.#lines.get(deviceId)
    if (line === undefined) {
      this.#lines.set(deviceId, { waiting: [], questions: 0 })
      return true
    }
    line.waiting.push(request)
    if (!request.isReport) line.questions++
    return false
  }

  /** The next request of this device, after one was served. */
  next(deviceId: string): T | undefined {
    const line = this.#lines.get(deviceId)
    const request = line?.waiting.shift()
    if (request === undefined) this.#lines.delete(deviceId)
    else if (line && !request.isReport) line.questions--
    return request
  }

  /** Removes and returns the waiting requests of the device with the longest line, to make room. */
  cutLongest(): T[] {
    const now = this.#elapsed()
    if (now - this.#cutAt < cutEveryMs) return []
    this.#cutAt = now
    let longest: Line<T> | undefined
    for (const line of this.#lines.values())
      if (line.waiting.length > (longest?.waiting.length ?? shortLine)) longest = line
    if (longest === undefined) return []
    const cut = longest.waiting
    longest.waiting = []
    longest.questions = 0
    return cut
  }

  clear(): void {
    for (const line of this.#lines.values()) line.waiting = []
    this.#lines.clear()
  }
}
