import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageUnavailable, TooMuchWaiting } from '../../src/domain/common/ports/storage-errors.ts'
import { GroupCommit, type GroupCommitOptions } from '../../src/store/group-commit.ts'

type SentCommit = { items: number[]; succeed(): void; fail(error: Error): void }

/** A group commit of numbers that weigh what they are, whose commits end when the test says so. */
function buildGroups(options: Partial<GroupCommitOptions<number, string>> = {}) {
  const sent: SentCommit[] = []
  const commit = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      sent.push({ items, succeed: () => resolve(items.map((item) => `out ${item}`)), fail: reject })
    })
  const groups = new GroupCommit(commit, {
    weigh: (item) => item,
    maxGroupWeight: 100,
    maxWaitingWeight: 1000,
    maxWaitingItems: 100,
    maxInFlight: 1,
    ownerOf: () => 1,
    maxOwnerShare: 1,
    ...options,
  })
  const take = async () => {
    await nextTurn()
    const next = sent.shift()
    assert.ok(next, 'no commit was sent')
    return next
  }
  return { groups, sent, take }
}

test('with nothing in progress a write is sent at once', () => {
  const { groups, sent } = buildGroups()
  void groups.write(1)
  assert.deepEqual(
    sent.map(({ items }) => items),
    [[1]],
  )
})

test('items that arrive during a commit are sent together by the next one, in order', async () => {
  const { groups, take } = buildGroups()
  const written = [3, 1, 2, 1].map((item) => groups.write(item))
  assert.equal(groups.waitingItems, 3)
  const first = await take()
  assert.deepEqual(first.items, [3])
  first.succeed()
  const second = await take()
  assert.deepEqual(second.items, [1, 2, 1])
  second.succeed()
  assert.deepEqual(await Promise.all(written), ['out 3', 'out 1', 'out 2', 'out 1'])
  assert.equal(groups.waitingItems, 0)
})

test('a write is answered after the commit that carries it, not before', async () => {
  const { groups, take } = buildGroups()
  let answered = 0
  for (const item of [1, 2]) void groups.write(item).then(() => answered++)
  const first = await take()
  assert.equal(answered, 0)
  first.succeed()
  const second = await take()
  assert.equal(answered, 1)
  second.succeed()
  await nextTurn()
  assert.equal(answered, 2)
})

test('when a group fails its members are tried one by one, and the bad one fails alone', async () => {
  const { groups, take } = buildGroups()
  const written = Promise.allSettled([9, 1, 2, 3].map((item) => groups.write(item)))
  ;(await take()).succeed()
  ;(await take()).fail(new Error('the group'))
  for (const item of [1, 2, 3]) {
    const alone = await take()
    assert.deepEqual(alone.items, [item])
    if (item === 2) alone.fail(new Error('two is bad'))
    else alone.succeed()
  }
  const settled = await written
  assert.deepEqual(
    settled.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message)),
    ['out 9', 'out 1', 'two is bad', 'out 3'],
  )
})

test('a write that fails alone is not tried again', async () => {
  const { groups, sent, take } = buildGroups()
  const written = groups.write(1)
  ;(await take()).fail(new Error('bad'))
  await assert.rejects(written, /bad/)
  assert.equal(sent.length, 0)
})

test('a commit that throws instead of failing is a commit that fails', async () => {
  const groups = new GroupCommit<number, string>(
    () => {
      throw new Error('thrown')
    },
    {
      weigh: () => 1,
      maxGroupWeight: 9,
      maxWaitingWeight: 9,
      maxWaitingItems: 9,
      maxInFlight: 1,
      ownerOf: () => 1,
      maxOwnerShare: 1,
    },
  )
  await assert.rejects(groups.write(1), /thrown/)
  await assert.rejects(groups.write(2), /thrown/)
})

test('when the storage is unavailable all members fail and none is tried again', async () => {
  const { groups, sent, take } = buildGroups()
  const written = Promise.allSettled([1, 2, 3].map((item) => groups.write(item)))
  ;(await take()).succeed()
  ;(await take()).fail(new StorageUnavailable('disk full'))
  const [, ...failed] = await written
  for (const each of failed) {
    assert.ok(each.status === 'rejected' && each.reason instanceof StorageUnavailable)
  }
  assert.equal(sent.length, 0)
})

test('when the storage goes while members are tried one by one, the others fail without a try', async () => {
  const { groups, sent, take } = buildGroups()
  const written = Promise.allSettled([9, 1, 2, 3].map((item) => groups.write(item)))
  ;(await take()).succeed()
  ;(await take()).fail(new Error('the group'))
  ;(await take()).succeed()
  ;(await take()).fail(new StorageUnavailable('disk full'))
  const settled = await written
  assert.deepEqual(
    settled.map((each) => each.status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  )
  assert.equal(sent.length, 0)
})

test('a group is closed when it weighs enough, and a heavy item makes a group of its own', async () => {
  const { groups, take } = buildGroups()
  for (const item of [1, 60, 40, 1, 500, 99, 2]) void groups.write(item)
  const sizes = []
  for (let count = 0; count < 5; count++) {
    const { items, succeed } = await take()
    sizes.push(items)
    succeed()
  }
  assert.deepEqual(sizes, [[1], [60, 40], [1], [500], [99]])
})

test('more items than may wait are refused, and nothing of them is sent', async () => {
  const { groups, take } = buildGroups({ maxWaitingItems: 2 })
  for (const item of [1, 2, 3]) void groups.write(item)
  await assert.rejects(groups.write(4), TooMuchWaiting)
  ;(await take()).succeed()
  const next = await take()
  assert.deepEqual(next.items, [2, 3])
  void groups.write(5)
  next.succeed()
  assert.deepEqual((await take()).items, [5])
})

test('more weight than may wait is refused; however heavy one is, it counts for half of its share', async () => {
  const { groups, take } = buildGroups({ maxWaitingWeight: 10 })
  for (const item of [1, 3, 50]) void groups.write(item)
  await assert.rejects(groups.write(3), TooMuchWaiting)
  await assert.rejects(groups.write(60), TooMuchWaiting)
  void groups.write(2)
  for (const sizes of [[1], [3, 50, 2]]) {
    const { items, succeed } = await take()
    assert.deepEqual(items, sizes)
    succeed()
  }
})

test('no more commits are in progress than allowed, and each that ends lets one follow', async () => {
  const { groups, sent, take } = buildGroups({ maxInFlight: 2, maxGroupWeight: 1 })
  for (let count = 0; count < 5; count++) void groups.write(1)
  assert.equal(sent.length, 2)
  const [, second] = [await take(), await take()]
  second.succeed()
  await nextTurn()
  assert.equal(sent.length, 1)
  assert.equal(groups.waitingItems, 2)
})

test('light items gather during a light commit, and are sent next to a heavy one', async () => {
  const { groups, sent, take } = buildGroups({ maxInFlight: 2, lightWeight: 10 })
  for (const item of [1, 2, 3]) void groups.write(item)
  assert.equal(sent.length, 1)
  void groups.write(20)
  const [light, heavy] = [await take(), await take()]
  assert.deepEqual([light.items, heavy.items], [[1], [2, 3, 20]])
  light.succeed()
  await nextTurn()
  void groups.write(4)
  assert.deepEqual((await take()).items, [4])
})

test('many callers that were answered together are written together when they return', async (t) => {
  // The time they are waited for is some milliseconds, which a busy machine may take for one turn.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { groups, sent, take } = buildGroups({ lightWeight: 100 })
  const callers = Array.from({ length: 10 }, () => 1)
  void groups.write(1)
  for (const item of callers) void groups.write(item)
  ;(await take()).succeed()
  const together = await take()
  assert.equal(together.items.length, 10)
  void groups.write(1)
  together.succeed()
  await nextTurn()
  assert.equal(sent.length, 0, 'the one that was early is not written alone')
  for (const item of callers) void groups.write(item)
  assert.ok((await take()).items.length >= 9)
})

test('items that wait for callers that do not return are written anyway, and heavy ones at once', async () => {
  const { groups, sent, take } = buildGroups({ lightWeight: 100 })
  const answerTen = async () => {
    void groups.write(1)
    for (let count = 0; count < 10; count++) void groups.write(1)
    ;(await take()).succeed()
    ;(await take()).succeed()
    await nextTurn()
  }
  await answerTen()
  void groups.write(2)
  while (sent.length === 0) await nextTurn()
  const alone = await take()
  assert.deepEqual(alone.items, [2])
  alone.succeed()
  await nextTurn()
  await answerTen()
  void groups.write(100)
  assert.deepEqual((await take()).items, [100])
})

test('heavy items are committed separately, and light ones do not wait for them', async () => {
  const { groups, sent, take } = buildGroups({ heavyWeight: 50 })
  for (const item of [50, 60, 1, 2, 3]) void groups.write(item)
  assert.deepEqual(
    sent.map(({ items }) => items),
    [[50], [1]],
  )
  assert.equal(groups.waitingItems, 3)
  const [heavy, light] = [await take(), await take()]
  light.succeed()
  assert.deepEqual((await take()).items, [2, 3])
  heavy.succeed()
  assert.deepEqual((await take()).items, [60])
  assert.equal(groups.waitingItems, 0)
})

test('one owner may fill its share of the queue, and leaves room for others', async () => {
  const { groups, take } = buildGroups({
    maxWaitingItems: 4,
    maxOwnerShare: 0.5,
    ownerOf: (item) => item % 2,
  })
  const odd = [1, 3, 5, 7].map((item) => groups.write(item))
  const even = [2, 4].map((item) => groups.write(item))
  await assert.rejects(odd[3] as Promise<string>, TooMuchWaiting)
  ;(await take()).succeed()
  const second = await take()
  assert.deepEqual(second.items, [3, 5, 2, 4])
  second.succeed()
  await Promise.all([...odd.slice(0, 3), ...even])
  void groups.write(9)
  assert.deepEqual((await take()).items, [9])
})

test('each commit is reported with its outcomes, and each failure', async () => {
  const reported: object[] = []
  const { groups, take } = buildGroups({
    onCommit: ({ items, outs }) => reported.push({ items, outs }),
    onFailure: ({ items }) => reported.push({ failed: items }),
  })
  const written = Promise.allSettled([1, 2, 3].map((item) => groups.write(item)))
  ;(await take()).succeed()
  ;(await take()).fail(new StorageUnavailable('disk full'))
  await written
  await nextTurn()
  assert.deepEqual(reported, [{ items: 1, outs: ['out 1'] }, { failed: 2 }])
})
