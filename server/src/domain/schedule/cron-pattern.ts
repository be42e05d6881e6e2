// Cron patterns of requests: invalid ones are J-507.

import { ApiError } from '@jobcast/contract'
import { CronError, type CronPattern, parseCron } from '@jobcast/contract/cron'

export type { CronPattern }

/** Throws J-507. `field`: the object in the request that has `cron` and `timeZone`; empty: the request itself. */
export function readCron(pattern: string, timeZone: string, field: string): CronPattern {
  try {
    return parseCron(pattern, timeZone)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const at = field === '' ? error.part : `${field}.${error.part}`
    throw new ApiError('J-507', { field: at, detail: `${at} ${error.message}` })
  }
}
