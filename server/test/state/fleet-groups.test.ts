// The fleet counted by tag, group or attribute: each count reads all devices, so they do not run at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { waitUntil } from '@jobcast/testkit/wait-until'
import type { Store } from '../../src/domain/common/ports/store.ts'
import { CachedCounts } from '../../src/state/cached-counts.ts'
import { FleetGroupsReader } from '../../src/state/fleet-groups.ts'

/** Each page of devices is answered by the test. */
function openReader() {
  const clock = { ms: 0 }
  const reading = new Map<number, number>()
  const most = new Map<number, number>()
  const waiting: PromiseWithResolvers<void>[] = []
  let pages = 0
  const store = {
    async listFleetDevices({ ownerNo }: { ownerNo: number }) {
      pages++
      const now = (reading.get(ownerNo) ?? 0) + 1
      reading.set(ownerNo, now)
      most.set(ownerNo, Math.max(now, most.get(ownerNo) ?? 0))
      const answer = Promise.withResolvers<void>()
      waiting.push(answer)
      await answer.promise.finally(() => reading.set(ownerNo, (reading.get(ownerNo) ?? 1) - 1))
      return { items: [], next: undefined }
    },
    listDeviceValues: async () => [],
  } as unknown as Store
  const counts = new CachedCounts(() => clock.ms)
  const reader = new FleetGroupsReader({ store, now: () => 0, counts })
  const aPage = () => waitUntil('a page is read', () => waiting.length > 0)
  return { reader, clock, most, waiting, aPage, pages: () => pages }
}

test('counts of one owner run one after the other, those of another owner meanwhile', async () => {
  const { reader, most, waiting, aPage } = openReader()
  const counts = ['a1', 'a2', 'a3'].map((by) => reader.read({ ownerNo: 1 }, by))
  counts.push(reader.read({ ownerNo: 2 }, 'a1'))
  for (let each = 0; each < counts.length; each++) {
    await aPage()
    // A failure does not hold up the next one.
    if (each === 0) waiting.shift()?.reject(new Error('the store is broken'))
    else waiting.shift()?.resolve()
  }
  const outcomes = await Promise.allSettled(counts)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(Object.fromEntries(most), { 1: 1, 2: 1 })
})

test('an answer is used again for as long as its own count took, not what it waited', async () => {
  const { reader, clock, waiting, aPage, pages } = openReader()
  const counts = ['a1', 'a2'].map((by) => reader.read({ ownerNo: 1 }, by))
  for (const ms of [100_000, 1000]) {
    await aPage()
    clock.ms += ms
    waiting.shift()?.resolve()
    await turn()
  }
  await Promise.all(counts)
  clock.ms += 18_000
  await reader.read({ ownerNo: 1 }, 'a2')
  assert.equal(pages(), 2)
  clock.ms += 2000
  const again = reader.read({ ownerNo: 1 }, 'a2')
  await aPage()
  waiting.shift()?.resolve()
  await again
  assert.equal(pages(), 3)
})
