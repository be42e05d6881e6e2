import type { Schedule } from '@jobcast/client'
import { localTime } from './local-time.ts'

/** Background work of the service that keeps failing. */
export function failingText({ since, times, message }: NonNullable<Schedule['failing']>): string {
  return `${times} tries since ${localTime(since)}: ${message}`
}
