// Requests that wait for an earlier one of the same device. Each of them keeps its place among the messages that the broker
// may send us, so no device may have many of these: others would get none.

type Waiting = { isReport: boolean }

type Line<T extends Waiting> = { waiting: T[]; questions: number }

/** What a device asks can be asked again. */
const maxQuestions = 20
/** Of what it reports, so that the backlog of a device that was away is stored in one go. */
const maxWaiting = 500
/** Lines up to this length are not cut. */
const shortLine = 10
/** What was cut is refused at once, but those served before it have to be acknowledged first. */
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

  /** True: nothing of this device is being served, so this one is to be served now. */
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

  /** The next one of this device, after one was served. */
  next(deviceId: string): T | undefined {
    const line = this.#lines.get(deviceId)
    const request = line?.waiting.shift()
    if (request === undefined) this.#lines.delete(deviceId)
    else if (line && !request.isReport) line.questions--
    return request
  }

  /** There is little room left: what waits of the device with the longest line, which is no longer in it. */
  cutLongest(): T[] {
    if (this.#elapsed() - this.#cutAt < cutEveryMs) return []
    let longest: Line<T> | undefined
    for (const line of this.#lines.values())
      if (line.waiting.length > (longest?.waiting.length ?? shortLine)) longest = line
    if (longest === undefined) return []
    this.#cutAt = this.#elapsed()
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
