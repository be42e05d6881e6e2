// The histogram of requests. prom-client hashes an object of labels at each observation, which takes longer than all other
// metrics of a request. Here the counts of a method, route and status are found in maps, and the text is generated at a scrape.

import { Histogram } from 'prom-client'

type Labels = { method: string; route: string; status: number }
/** `buckets`: not cumulative; the last one counts values above all bounds. */
type Counts = { labels: Labels; buckets: Float64Array; sum: number; count: number }
type Value = { metricName: string; labels: { le?: number | string }; sharedLabels: Labels; value: number }

type LatencyOptions = {
  name: string
  help: string
  /** Upper bounds in seconds, ascending. */
  bounds: readonly number[]
}

/** A subclass, as required by the registry; only the counting is different. Not registered by the constructor. */
export class LatencyHistogram extends Histogram<keyof Labels> {
  readonly #options: LatencyOptions
  readonly #byRoute = new Map<string, Map<string, Map<number, Counts>>>()
  /** In the order of first use. */
  readonly #all: Counts[] = []

  constructor(options: LatencyOptions) {
    const { name, help, bounds } = options
    super({ name, help, buckets: [...bounds], labelNames: ['method', 'route', 'status'], registers: [] })
    this.#options = options
  }

  add(method: string, route: string, status: number, seconds: number): void {
    const counts =
      this.#byRoute.get(route)?.get(method)?.get(status) ?? this.#newCounts({ method, route, status })
    const { bounds } = this.#options
    let bucket = 0
    while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket++
    counts.buckets[bucket] = (counts.buckets[bucket] as number) + 1
    counts.sum += seconds
    counts.count++
  }

  /** Called by the registry for its text. */
  async getForPromString() {
    const { name, help } = this.#options
    return { name, help, type: 'histogram', values: this.#all.flatMap((counts) => this.#valuesOf(counts)) }
  }

  #newCounts(labels: Labels): Counts {
    const { method, route, status } = labels
    const counts = { labels, buckets: new Float64Array(this.#options.bounds.length + 1), sum: 0, count: 0 }
    const byMethod = this.#byRoute.get(route) ?? new Map<string, Map<number, Counts>>()
    const byStatus = byMethod.get(method) ?? new Map<number, Counts>()
    this.#byRoute.set(route, byMethod)
    byMethod.set(method, byStatus)
    byStatus.set(status, counts)
    this.#all.push(counts)
    return counts
  }

  #valuesOf({ labels: sharedLabels, buckets, sum, count }: Counts): Value[] {
    const { name, bounds } = this.#options
    let upToHere = 0
    const inBuckets = bounds.map((le, index) => {
      upToHere += buckets[index] as number
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: upToHere }
    })
    return [
      ...inBuckets,
      { metricName: `${name}_bucket`, labels: { le: '+Inf' }, sharedLabels, value: count },
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
    ]
  }
}
