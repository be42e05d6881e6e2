// How much of something may be stored or held at once. All are far above honest use, so that nobody fills the disk, the
// memory or the connections of the others. 0 switches a quota off. Rates are in limits/.

import { ApiError, type Resource } from '@jobcast/contract'

/** By the name of its setting: what is counted, and what to do when the quota is reached. */
const quotas = {
  'max-execution-reports': ['reports about one execution', 'report its final state'],
  'max-progress-bytes': ['bytes of progress events of one execution', 'report its final state'],
  'max-output-pieces': ['pieces of output of one attempt', 'send larger pieces'],
  'max-owner-output-bytes': [
    'bytes of output of one owner a day',
    'send less output, or wait until the next day (UTC)',
  ],
  'max-device-executions': [
    'unfinished executions of one device',
    'wait until some have ended, or cancel them',
  ],
  'max-owner-executions': [
    'unfinished executions of one owner',
    'wait until some have ended, or cancel them',
  ],
  'max-owner-devices': ['devices of one owner', 'delete devices that are no longer used'],
  'max-owner-jobs': ['jobs of one owner', 'delete jobs that are no longer used'],
  'max-owner-keys': ['active API keys of one owner', 'revoke keys that are no longer used'],
  'max-owner-enrollments': ['open enrollments of one owner', 'revoke enrollments that are no longer used'],
  'max-owner-webhooks': ['webhooks of one owner', 'delete webhooks that are no longer used'],
  'max-owner-match-schedules': [
    'schedules of one owner that run as soon as a device matches',
    'delete schedules that are no longer used, or combine them',
  ],
  'max-key-sessions': ['sessions and tickets of one API key', 'sign out, or wait until some have expired'],
  'max-key-body-bytes': [
    'bytes of unfinished request bodies of one API key or device',
    'send fewer large requests at once',
  ],
  'max-owner-body-bytes': [
    'bytes of unfinished request bodies of one owner',
    'send fewer large requests at once',
  ],
  'max-node-body-bytes': ['bytes of unfinished request bodies', 'repeat the request later'],
  'max-key-streams': ['streams of one API key', 'close streams that are no longer read'],
  'max-owner-streams': ['streams of one owner', 'close streams that are no longer read'],
} as const satisfies Record<string, readonly [what: string, remedy: string]>

export type QuotaName = keyof typeof quotas
export type Quotas = Readonly<Record<QuotaName, number>>

export const quotaNames = Object.keys(quotas) as QuotaName[]

export const noQuotas = Object.fromEntries(quotaNames.map((name) => [name, 0])) as Quotas

/** One sentence: the quota, its value and what to do. */
export function describeQuota(name: QuotaName, limit: number): string {
  const [what, remedy] = quotas[name]
  return `at most ${limit} ${what} (${name}); ${remedy}`
}

export function overQuota(name: QuotaName, limit: number, deviceIds?: readonly string[]): ApiError {
  return new ApiError('J-912', { suffix: describeQuota(name, limit), ...(deviceIds && { deviceIds }) })
}

/** Of a resource whose quota is no setting. */
export function tooMany({ name, quota }: Resource): ApiError {
  return new ApiError('J-912', {
    suffix: `at most ${quota} ${name} of one owner; delete ${name} that are no longer used`,
  })
}
