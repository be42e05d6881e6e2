// Progress may be reported at any rate, and each report is stored; but at most one progress event per execution is written
// in an interval. Further events are held back, and the newest is written at the end of the interval, or before the next
// state change.

import type { Quotas } from '../access/quotas.ts'
import { laterBy, type SteadyInstant } from '../common/instants.ts'

const intervalMs = 1000

export type ReportQuotas = Pick<Quotas, 'execution-reports' | 'progress-bytes'>

const ofReports = new WeakMap<Quotas, ReportQuotas>()

/** The quotas that apply to reports. Returns the same object each time, so that a message to the writer contains it once. */
export function reportQuotasOf(quotas: Quotas): ReportQuotas {
  let picked = ofReports.get(quotas)
  if (picked === undefined) {
    const names = ['execution-reports', 'progress-bytes'] as const
    picked = { [names[0]]: quotas[names[0]], [names[1]]: quotas[names[1]] }
    ofReports.set(quotas, picked)
  }
  return picked
}

/** An event at or after this instant holds the next one back. */
export function intervalStart(clock: SteadyInstant): SteadyInstant {
  return laterBy(-intervalMs, clock)
}

/** The last event may be in the future: after a restart the clock follows the wall clock, which may have been set back. */
export function isHeldBack(lastEventAt: SteadyInstant | null, clock: SteadyInstant): boolean {
  return lastEventAt !== null && lastEventAt > intervalStart(clock) && lastEventAt <= clock
}

/** The quota that a further progress report would exceed. Reports that change the state are never refused. */
export function exceededQuota(
  { versionNumber, progressBytes }: { versionNumber: number; progressBytes: number },
  statusDetails: Record<string, string> | undefined,
  quotas: ReportQuotas,
): keyof ReportQuotas | undefined {
  const { 'execution-reports': maxReports, 'progress-bytes': maxBytes } = quotas
  if (maxReports > 0 && versionNumber >= maxReports) return 'execution-reports'
  if (maxBytes === 0 || statusDetails === undefined) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(statusDetails))
  return progressBytes + bytes > maxBytes ? 'progress-bytes' : undefined
}
