import type { Schedule } from '@jobcast/client'
import { localTime } from './local-time.ts'

/** What the service does by itself and cannot write. */
export function failingText({ since, times, message }: NonNullable<Schedule['failing']>): string {
  return `${times} tries since ${localTime(since)}: ${message}`
}
