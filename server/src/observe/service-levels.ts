// The numbers of pending and running executions in the whole database, read on request and cached briefly.

import type { Store } from '../domain/common/ports/store.ts'
import type { ServiceLevels } from '../domain/device/ports/fleet.ts'
import type { LabeledValue, Metrics } from './metrics.ts'

const readAgainMs = 10_000

export function addServiceLevels(
  metrics: Metrics,
  store: Pick<Store, 'readServiceLevels'>,
  now: () => number,
): void {
  let latest: { levels: Promise<ServiceLevels>; at: number } | undefined
  const read = () => {
    const at = performance.now()
    if (latest === undefined || at - latest.at >= readAgainMs) {
      latest = { levels: store.readServiceLevels(), at }
    }
    return latest.levels
  }
  /** While the database cannot be read, the value is omitted and other metrics continue. */
  const gauge = (name: string, help: string, pick: (levels: ServiceLevels) => number) =>
    metrics.gauges(name, help, [], async (): Promise<LabeledValue[]> => {
      const levels = await read().catch(() => undefined)
      return levels ? [{ labels: {}, value: pick(levels) }] : []
    })
  gauge(
    'jobcast_executions_pending',
    'Executions that are PENDING, in the whole database',
    ({ pending }) => pending,
  )
  gauge(
    'jobcast_executions_running',
    'Executions that are IN_PROGRESS or CANCELING, in the whole database',
    ({ running }) => running,
  )
  gauge(
    'jobcast_oldest_pending_age_seconds',
    'Age of the oldest run that has a PENDING execution; 0 if there is none',
    ({ oldestPendingAt }) => (oldestPendingAt === null ? 0 : Math.max(0, now() - oldestPendingAt) / 1000),
  )
}
