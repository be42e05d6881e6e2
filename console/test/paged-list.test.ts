import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PagedList } from '../src/api/paged-list.ts'

/** A list on a server that has `ids` in this order, two a page. */
function listOf(ids: { current: number[] }): { list: PagedList<number>; loads: (string | undefined)[] } {
  const loads: (string | undefined)[] = []
  const list = new PagedList<number>({
    key: ['any'],
    idOf: (id) => id,
    async load(cursor) {
      loads.push(cursor)
      const from = cursor === undefined ? 0 : ids.current.indexOf(Number(cursor)) + 1
      const items = ids.current.slice(from, from + 2)
      const isLast = from + 2 >= ids.current.length
      return { items, nextCursor: isLast ? null : String(items.at(-1)) }
    },
  })
  return { list, loads }
}

test('a list is read page by page to its end, and no further', async () => {
  const { list, loads } = listOf({ current: [5, 4, 3, 2, 1] })
  for (let time = 0; time < 5; time++) await list.loadMore()
  assert.deepEqual(list.state.value.rows, [5, 4, 3, 2, 1])
  assert.deepEqual(loads, [undefined, '4', '2'])
})

test('a refresh reads one page and keeps the rows below, without gaps or duplicates', async () => {
  const ids = { current: [5, 4, 3, 2, 1] }
  const { list, loads } = listOf(ids)
  await list.loadMore()
  await list.loadMore()
  ids.current = [6, 5, 4, 3, 2, 1]
  await list.refresh()
  assert.deepEqual(list.state.value.rows, [6, 5, 4, 3, 2])
  assert.equal(loads.length, 3)
  await list.loadMore()
  assert.deepEqual(list.state.value.rows, [6, 5, 4, 3, 2, 1])
})

test('an open list does not grow with new rows, and continues where it was cut', async () => {
  const ids = { current: Array.from({ length: 20 }, (_, index) => 20 - index) }
  const { list } = listOf(ids)
  await list.loadMore()
  await list.loadMore()
  for (let next = 21; next <= 60; next++) {
    ids.current = [next, ...ids.current]
    await list.refresh()
    assert.ok(list.state.value.rows.length <= 7, `${list.state.value.rows.length} rows`)
  }
  while (list.state.value.nextCursor !== null) await list.loadMore()
  assert.deepEqual(list.state.value.rows, ids.current)
})

test('if a page of new rows does not reach the old ones, the list starts over', async () => {
  const ids = { current: [3, 2, 1] }
  const { list } = listOf(ids)
  await list.loadMore()
  ids.current = [8, 7, 6, 5, 4, 3, 2, 1]
  await list.refresh()
  assert.deepEqual(list.state.value.rows, [8, 7])
  while (list.state.value.nextCursor !== null) await list.loadMore()
  assert.deepEqual(list.state.value.rows, ids.current)
})

test('two concurrent calls for more load one page', async () => {
  const { list, loads } = listOf({ current: [3, 2, 1] })
  await Promise.all([list.loadMore(), list.loadMore()])
  assert.deepEqual(list.state.value.rows, [3, 2])
  assert.equal(loads.length, 1)
})

test('an error is reported, and loaded rows remain', async () => {
  let isDown = false
  const list = new PagedList<number>({
    key: ['any'],
    idOf: (id) => id,
    load: async () => {
      if (isDown) throw new Error('down')
      return { items: [1], nextCursor: 'more' }
    },
  })
  await list.loadMore()
  isDown = true
  await list.loadMore()
  assert.deepEqual(list.state.value.rows, [1])
  assert.match(String(list.state.value.error), /down/)
})
