// Shares one read of a job's newest version among schedules that are due at the same time.

import type { Store } from '../domain/common/ports/store.ts'

type ListVersions = Store['listJobVersions']

export function shareVersions(list: ListVersions): ListVersions {
  const inFlight = new Map<string, ReturnType<ListVersions>>()
  return (asked) => {
    const { ownerNo, jobName, slice } = asked
    const key = JSON.stringify([ownerNo, jobName, slice.after, slice.limit])
    const found = inFlight.get(key) ?? list(asked).finally(() => inFlight.delete(key))
    inFlight.set(key, found)
    return found
  }
}
