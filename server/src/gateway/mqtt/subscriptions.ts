// The subscriptions of a device, all inside its own topic tree. Filters are stored without the common prefix.

import type { DeviceNotice, DeviceSession } from '../../domain/device/ports/device-link.ts'
import { noticeTopic } from './notice-message.ts'
import type { Reason } from './reason.ts'
import { isPattern, isWellFormed, matches } from './topic-filter.ts'

type Qos = 0 | 1

const maxFilters = 200
const maxFilterLength = 256
const anyJobId = '1'
const none: readonly string[] = []

export class Subscriptions {
  readonly #prefix: string
  readonly #granted = new Map<string, Qos>()
  /** Filters with wildcards; the others are found by name. */
  #patterns: readonly string[] = []
  // Updated when subscriptions change, so that the fan-out needs no look-up.
  #list: Qos | undefined
  #next: Qos | undefined
  /** Whether any answer to a request could match. */
  #wantsAnswers = false
  wants: DeviceSession['wants'] = { list: false, next: false, cancel: false }

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** For each filter, the granted QoS or the reason of the refusal. */
  add(wanted: readonly { topic: string; qos: number }[]): (Qos | Reason)[] {
    const outcomes = wanted.map(({ topic, qos }) => this.#grant(topic, qos === 0 ? 0 : 1))
    this.#findNotices()
    return outcomes
  }

  /** False if there was no such subscription. */
  remove(filters: readonly string[]): boolean[] {
    const existed = filters.map(
      (filter) => filter.startsWith(this.#prefix) && this.#granted.delete(this.#suffixOf(filter)),
    )
    this.#findNotices()
    return existed
  }

  /** The highest QoS of all matching filters; undefined: not subscribed. */
  qosOf(suffix: string): Qos | undefined {
    let highest = this.#granted.get(suffix)
    for (const pattern of this.#patterns) {
      if (highest === 1) break
      if (matches(pattern, suffix)) highest = this.#granted.get(pattern)
    }
    return highest
  }

  /** QoS of the answer to a request on the topic `suffix`. */
  qosOfAnswer(suffix: string, answer: 'accepted' | 'rejected'): Qos | undefined {
    return this.#wantsAnswers ? this.qosOf(`${suffix}/${answer}`) : undefined
  }

  qosOfNotice(notice: DeviceNotice): Qos | undefined {
    switch (notice.kind) {
      case 'list':
        return this.#list
      case 'next':
        return this.#next
      case 'cancel':
        return this.qosOf(noticeTopic(notice))
    }
  }

  #grant(filter: string, qos: Qos): Qos | Reason {
    const refusal = this.#refusalOf(filter)
    if (refusal === undefined) this.#granted.set(this.#suffixOf(filter), qos)
    return refusal ?? qos
  }

  #refusalOf(filter: string): Reason | undefined {
    if (filter.startsWith('$share/')) return 'shared-subscription'
    if (!isWellFormed(filter)) return 'bad-filter'
    if (!filter.startsWith(this.#prefix)) return 'not-authorized'
    const suffix = this.#suffixOf(filter)
    if (suffix.length > maxFilterLength) return 'bad-filter'
    return this.#granted.size >= maxFilters && !this.#granted.has(suffix) ? 'too-many' : undefined
  }

  #suffixOf(filter: string): string {
    return filter.slice(this.#prefix.length)
  }

  #findNotices(): void {
    this.#patterns = this.#granted.size === 0 ? none : [...this.#granted.keys()].filter(isPattern)
    this.#list = this.qosOf('notify')
    this.#next = this.qosOf('notify-next')
    let cancel = false
    this.#wantsAnswers = this.#patterns.length > 0
    for (const filter of this.#granted.keys()) {
      const [jobId = ''] = filter.split('/', 1)
      this.#wantsAnswers ||= filter.endsWith('/accepted') || filter.endsWith('/rejected')
      cancel ||= matches(filter, `${/^\d+$/.test(jobId) ? jobId : anyJobId}/cancel`)
    }
    this.wants = { list: this.#list !== undefined, next: this.#next !== undefined, cancel }
  }
}
