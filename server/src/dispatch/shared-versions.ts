// Schedules of one job that are due at the same time: whoever asks for its newest version while somebody else does gets the same answer.

import type { Store } from '../domain/common/ports/store.ts'

type ListVersions = Store['listJobVersions']

export function shareVersions(list: ListVersions): ListVersions {
  const underWay = new Map<string, ReturnType<ListVersions>>()
  return (asked) => {
    const { ownerNo, jobName, slice } = asked
    const key = JSON.stringify([ownerNo, jobName, slice.after, slice.limit])
    const found = underWay.get(key) ?? list(asked).finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
}
