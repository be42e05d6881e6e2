import type { Schedule } from '@jobcast/client'
import { termText } from '@jobcast/contract/selector'

/** The devices of a schedule, as a selector. */
export function whereOf({ where, group, deviceIds = [] }: Schedule['targets']): string {
  if (where !== undefined) return where
  if (group !== undefined) return termText('group', group)
  const ids = deviceIds.map((deviceId) => termText('deviceId', deviceId).slice('deviceId='.length))
  return `deviceId in (${ids.join(', ')})`
}
