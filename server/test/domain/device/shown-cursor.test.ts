import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Slice, Sliced } from '../../../src/domain/common/ports/slices.ts'
import { listWithShownCursor } from '../../../src/domain/device/shown-cursor.ts'

type Item = { deviceId: string }
const all = ['a1', 'b-other', 'c-other', 'd-other', 'e5', 'f-other', 'g-other']

/** Checks two devices at a time, and ends a page at the last one that it has checked, as the stores do. */
async function listChecked({ after = '', limit }: Slice<string>): Promise<Sliced<Item, string>> {
  const rest = all.filter((id) => id > after)
  const checked = rest.slice(0, 2)
  const items = checked.filter((id) => !id.endsWith('other')).map((deviceId) => ({ deviceId }))
  return { items: items.slice(0, limit), next: rest.length > checked.length ? checked.at(-1) : undefined }
}

test('cursors name devices of the list only, and lead through all of them', async () => {
  const pages: [string[], string | undefined][] = []
  let after: string | undefined
  do {
    const { items, next } = await listWithShownCursor(listChecked, { after, limit: 10 })
    pages.push([items.map(({ deviceId }) => deviceId), next])
    after = next
  } while (after !== undefined)
  assert.deepEqual(pages, [
    [['a1'], 'a1'],
    [['e5'], 'e5'],
    [[], undefined],
  ])
})
