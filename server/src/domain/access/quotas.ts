// How much may be stored or held at once. All quotas are far above normal use, and keep one owner from using up disk, memory
// or connections. 0 disables a quota. Rates are in limits/.

import { ApiError, type Resource } from '@jobcast/contract'

/** By name in settings and messages: the default, what is counted, and what to do when the quota is reached. */
const quotas = {
  devices: [2_000_000, 'devices of one owner', 'delete devices that are no longer used'],
  executions: [
    20_000_000,
    'unfinished executions of one owner',
    'wait until some have ended, or cancel them',
  ],
  'device-executions': [
    100_000,
    'unfinished executions of one device',
    'wait until some have ended, or cancel them',
  ],
  jobs: [100_000, 'jobs of one owner', 'delete jobs that are no longer used'],
  keys: [10_000, 'active API keys of one owner', 'revoke keys that are no longer used'],
  enrollments: [100_000, 'open enrollments of one owner', 'revoke enrollments that are no longer used'],
  webhooks: [100, 'webhooks of one owner', 'delete webhooks that are no longer used'],
  'match-schedules': [
    200,
    'schedules of one owner that run as soon as a device matches',
    'delete schedules that are no longer used, or combine them',
  ],
  'window-groups': [
    50,
    'groups of one owner that have a window',
    'combine groups, or set the window of the devices themselves',
  ],
  'key-sessions': [
    10_000,
    'sessions and tickets of one API key',
    'sign out, or wait until some have expired',
  ],
  'key-streams': [1000, 'streams of one API key', 'close streams that are no longer read'],
  streams: [4000, 'streams of one owner', 'close streams that are no longer read'],
  'key-body-bytes': [
    32 * 1024 * 1024,
    'bytes of unfinished request bodies of one API key or device',
    'send fewer large requests at once',
  ],
  'body-bytes': [
    64 * 1024 * 1024,
    'bytes of unfinished request bodies of one owner',
    'send fewer large requests at once',
  ],
  'node-body-bytes': [256 * 1024 * 1024, 'bytes of unfinished request bodies', 'repeat the request later'],
  'execution-reports': [1_000_000, 'reports about one execution', 'report its final state'],
  'progress-bytes': [64 * 1024 * 1024, 'bytes of progress events of one execution', 'report its final state'],
  'output-pieces': [100_000, 'pieces of output of one attempt', 'send larger pieces'],
  'owner-file-bytes': [
    100 * 1024 * 1024 * 1024,
    'bytes of files of one owner',
    'delete versions that are no longer used',
  ],
  'owner-output-bytes': [
    100 * 1024 * 1024 * 1024,
    'bytes of output of one owner a day',
    'send less output, or wait until the next day (UTC)',
  ],
} as const satisfies Record<string, readonly [limit: number, what: string, remedy: string]>

export type QuotaName = keyof typeof quotas
export type Quotas = Readonly<Record<QuotaName, number>>

export const quotaNames = Object.keys(quotas) as QuotaName[]

export const noQuotas = Object.fromEntries(quotaNames.map((name) => [name, 0])) as Quotas

/** The defaults, with what each quota counts. */
export const defaultQuotas = quotaNames.map((name) => {
  const [limit, what] = quotas[name]
  return { name, limit, what }
})

/** One sentence: the quota, its value and what to do. */
export function describeQuota(name: QuotaName, limit: number): string {
  const [, what, remedy] = quotas[name]
  return `at most ${limit} ${what} (quota ${name}); ${remedy}`
}

export function overQuota(name: QuotaName, limit: number, deviceIds?: readonly string[]): ApiError {
  return new ApiError('J-912', { suffix: describeQuota(name, limit), ...(deviceIds && { deviceIds }) })
}

/** For a resource with a fixed quota. */
export function tooMany({ name, quota }: Resource): ApiError {
  return new ApiError('J-912', {
    suffix: `at most ${quota} ${name} of one owner; delete ${name} that are no longer used`,
  })
}
