import assert from 'node:assert/strict'
import { type TestContext, test as testWithTimers } from 'node:test'
import { keepEqual } from '../src/api/keep-equal.ts'
import type { Query } from '../src/api/query.ts'
import { queryCache } from '../src/api/query-cache.ts'

/** Responses are removed by timers, which would keep this process running. */
function test(title: string, work: (t: TestContext) => unknown): void {
  testWithTimers(title, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    await work(t)
  })
}

type Answer = { resolve: (data: unknown) => void; reject: (error: unknown) => void; signal: AbortSignal }

/** A query whose answers the test gives. */
function openQuery(key: string) {
  const answers: Answer[] = []
  const query = queryCache.open<unknown>({
    queryKey: [key],
    queryFn: ({ signal }) =>
      new Promise((resolve, reject) => {
        answers.push({ resolve, reject, signal })
      }),
  })
  return { query, answers }
}

const watcher = (isEnabled = true) => ({ isEnabled, onChange: () => undefined })
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a query is read when it is shown, once for all components', async () => {
  const { query, answers } = openQuery('shown')
  let changes = 0
  const end = query.watch({ isEnabled: true, onChange: () => changes++ })
  const endOther = query.watch(watcher())
  await settle()
  assert.equal(answers.length, 1)
  assert.ok(query.isReading)
  answers[0]?.resolve({ a: 1 })
  await settle()
  assert.ok(!query.isReading)
  assert.deepEqual(queryCache.get(['shown']), { a: 1 })
  assert.equal(changes, 1)
  end()
  endOther()
  query.watch(watcher())
  await settle()
  assert.equal(answers.length, 1, 'read again although it is fresh')
})

test('a query that is not enabled is shown from the cache, and never read', async () => {
  const { query, answers } = openQuery('disabled')
  query.watch(watcher(false))
  await queryCache.invalidate(['disabled'])
  assert.equal(answers.length, 0)
  assert.deepEqual(
    queryCache.shownKeys().filter(([name]) => name === 'disabled'),
    [],
  )
})

test('a change during a read discards its answer, unless it is the first', async () => {
  const { query, answers } = openQuery('changed')
  query.watch(watcher())
  await settle()
  void queryCache.invalidate(['changed'])
  await settle()
  assert.equal(answers.length, 1)
  answers[0]?.resolve('first')
  await settle()
  void queryCache.invalidate(['changed'])
  await settle()
  void queryCache.invalidate(['changed'])
  await settle()
  assert.equal(answers.length, 3)
  assert.equal(answers[1]?.signal.aborted, true)
  answers[1]?.resolve('before the change')
  answers[2]?.resolve('after the change')
  await settle()
  assert.equal(query.data, 'after the change')
})

test('a read that fails keeps the data, and its error until a read succeeds', async () => {
  const { query, answers } = openQuery('failing')
  query.watch(watcher())
  await settle()
  answers[0]?.resolve('old')
  await settle()
  void query.refetch()
  await settle()
  answers[1]?.reject(new Error('no answer'))
  await settle()
  assert.equal(query.data, 'old')
  assert.match(String(query.error), /no answer/)
  void query.refetch()
  await settle()
  answers[2]?.resolve('new')
  await settle()
  assert.deepEqual([query.data, query.error], ['new', undefined])
})

test('the read of a query that is no longer shown is aborted', async () => {
  const { query, answers } = openQuery('left')
  const end = query.watch(watcher())
  await settle()
  end()
  // As a component does whose options have changed.
  const endAgain = query.watch(watcher())
  await settle()
  assert.equal(answers[0]?.signal.aborted, false)
  endAgain()
  await settle()
  assert.equal(answers[0]?.signal.aborted, true)
})

test('responses that are not shown are removed after five minutes, drafts are kept', (t) => {
  queryCache.set(['draft', 'a'], 'kept')
  const { query } = openQuery('removed')
  const { query: shown } = openQuery('still shown')
  shown.watch(watcher())
  query.set('data')
  t.mock.timers.tick(5 * 60_000)
  assert.equal(queryCache.get(['draft', 'a']), 'kept')
  const keys = queryCache.keys().map(([name]) => name)
  assert.ok(keys.includes('still shown') && !keys.includes('removed'))
})

test('a patch changes only data that was read', () => {
  queryCache.patch<number>(['never read'], (count) => count + 1)
  assert.equal(queryCache.get(['never read']), undefined)
  const query = queryCache.open<number>({ queryKey: ['counted'], queryFn: async () => 1 }) as Query<number>
  query.set(1)
  queryCache.patch<number>(['counted'], (count) => count + 1)
  assert.equal(query.data, 2)
})

test('equal parts of a new response are those of the previous one', () => {
  const previous = { items: [{ id: 1 }, { id: 2 }], next: null }
  const next = keepEqual(previous, { items: [{ id: 1 }, { id: 3 }], next: null })
  assert.deepEqual(next, { items: [{ id: 1 }, { id: 3 }], next: null })
  assert.equal(next.items[0], previous.items[0])
  assert.equal(keepEqual(previous, structuredClone(previous)), previous)
  assert.deepEqual(keepEqual([1, 2], [1]), [1])
  assert.deepEqual(keepEqual<unknown>({ a: 1 }, { b: undefined }), { b: undefined })
})
