// Output of devices in every store: each byte once, also with duplicates, overlaps and gaps.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { execStates } from '@jobcast/contract'
import { randomInputs } from '@jobcast/testkit/test-seed'
import { testSize } from '@jobcast/testkit/test-size'
import fc from 'fast-check'
import { isTerminal } from '../../src/domain/execution/execution.ts'
import { output, report, startedBy, update } from './device-reports.ts'
import {
  assertRunsAddUp,
  bringTo,
  createOne,
  momentAt,
  type StoreUnderTest,
  seedOwner,
  startedAt,
} from './store-under-test.ts'

const piece = fc.record({
  /** From where the kept bytes end: behind is a double or an overlap, ahead is a gap. */
  shift: fc.oneof(fc.constant(0), fc.integer({ min: -30, max: 3 })),
  data: fc.uint8Array({ maxLength: 25 }),
})
const look = fc.record({ offset: fc.nat(140), limit: fc.nat(140) })

export async function exerciseOutputs(t: TestContext, underTest: StoreUnderTest): Promise<void> {
  const { store } = underTest

  /** An owner with one execution that its device has started. */
  async function seedStarted() {
    const { ownerNo, trigger } = await seedOwner(store)
    const { firstExecutionId: jobExecutionId, runId } = await createOne(store, trigger(['d1']))
    const device = { ownerNo, deviceId: 'd1' }
    await startedBy(store, device)
    const read = async (offset: number, limit: number) => {
      const slice = await store.readOutput({ ownerNo, jobExecutionId, offset, limit, attempt: undefined })
      assert.ok(slice)
      return { ...slice, data: Buffer.from(slice.data) }
    }
    const write = (offset: number, data: string | Uint8Array, maxBytes = 1000) =>
      report(store, output(device, jobExecutionId, offset, data, { maxBytes }))
    const text = async () => (await read(0, 1_000_000)).data.toString()
    return { ownerNo, device, jobExecutionId, runId, read, write, text }
  }

  await t.test('output and progress of one group are both kept, in either order', async () => {
    const { device, jobExecutionId, text } = await seedStarted()
    const progress = (done: string) =>
      update(device, jobExecutionId, 'IN_PROGRESS', { statusDetails: { done }, clientToken: done })
    const piece = (offset: number, data: string) => output(device, jobExecutionId, offset, data)
    const groups = [
      [progress('1')],
      [progress('2')],
      [progress('3'), piece(0, 'one ')],
      [piece(4, 'two '), progress('4')],
      [progress('5'), piece(8, 'three'), progress('6')],
      [progress('7')],
    ]
    for (const group of groups) {
      const kinds = (await store.recordReports(group)).map(({ kind }) => kind)
      assert.ok(
        kinds.every((kind) => kind === 'done' || kind === 'output-kept'),
        kinds.join(),
      )
    }
    assert.equal(await text(), 'one two three')
    const found = await store.getDeviceExecution({ ...device, jobExecutionId })
    assert.deepEqual([found?.statusDetails, found?.versionNumber], [{ done: '7' }, 9])
    const again = (await store.recordReports([progress('7')]))[0]
    assert.equal(again?.kind === 'done' && again.execution.versionNumber, 9, 'a double has counted')
  })

  await t.test('for any pieces, each byte is stored once, and any slice reads correctly', async () => {
    const property = fc.asyncProperty(
      fc.array(piece, { maxLength: 20, size: 'max' }),
      fc.array(look, { minLength: 3, maxLength: 6 }),
      fc.integer({ min: 0, max: 150 }),
      async (pieces, looks, maxBytes) => {
        const { ownerNo, jobExecutionId, runId, read, write } = await seedStarted()
        let kept = Buffer.alloc(0)
        let cut = false
        for (const { shift, data } of pieces) {
          const offset = Math.max(0, kept.length + shift)
          const outcome = await write(offset, data, maxBytes)
          if (offset > kept.length && !cut) {
            assert.deepEqual(outcome, { kind: 'output-gap', length: kept.length })
            continue
          }
          if (!cut) {
            const whole = Buffer.concat([kept, data.subarray(kept.length - offset)])
            cut = whole.length > maxBytes
            kept = whole.subarray(0, maxBytes)
          }
          assert.deepEqual(outcome, { kind: 'output-kept', length: kept.length, cut, runId })
        }
        for (const { offset, limit } of [...looks, { offset: 0, limit: 1000 }]) {
          assert.deepEqual(await read(offset, limit), {
            data: kept.subarray(offset, offset + limit),
            length: kept.length,
            cut,
            runId,
            ended: false,
          })
        }
        const stored = await store.getExecution({ ownerNo, jobExecutionId })
        assert.deepEqual([stored?.outputBytes, stored?.outputCut], [kept.length, cut])
        assert.equal(stored?.versionNumber, 2)
      },
    )
    await fc.assert(property, randomInputs({ test: 8, chaos: 250 }))
  })

  await t.test(
    'duplicates and overlaps are dropped, a gap is refused with the offset to continue at',
    async () => {
      const { runId, write, text } = await seedStarted()
      const kept = (length: number) => ({ kind: 'output-kept', length, cut: false, runId })
      assert.deepEqual(await write(0, 'hello '), kept(6))
      assert.deepEqual(await write(0, 'hello '), kept(6))
      assert.deepEqual(await write(0, 'hell'), kept(6))
      assert.deepEqual(await write(7, 'orld'), { kind: 'output-gap', length: 6 })
      // What is kept is kept: another text for the same bytes does not count.
      assert.deepEqual(await write(3, 'XXXworld'), kept(11))
      assert.deepEqual(await write(11, ''), kept(11))
      assert.equal(await text(), 'hello world')
    },
  )

  await t.test('output beyond the limit is truncated permanently', async () => {
    const { ownerNo, jobExecutionId, runId, write, text } = await seedStarted()
    const kept = (cut: boolean, length = 10) => ({ kind: 'output-kept', length, cut, runId })
    assert.deepEqual(await write(0, '0123456789', 10), kept(false))
    assert.deepEqual(await write(10, '', 10), kept(false))
    assert.deepEqual(await write(0, '0123456789', 10), kept(false))
    assert.deepEqual(await write(8, '89ab', 10), kept(true))
    assert.deepEqual(await write(10, 'ab', 1000), kept(true))
    assert.deepEqual(await write(500, 'ab', 1000), kept(true))
    assert.equal(await text(), '0123456789')
    const stored = await store.getExecution({ ownerNo, jobExecutionId })
    assert.deepEqual([stored?.outputBytes, stored?.outputCut], [10, true])

    const next = await seedStarted()
    assert.deepEqual(await next.write(0, '0123456789', 4), { ...kept(true, 4), runId: next.runId })
    assert.equal(await next.text(), '0123')
  })

  await t.test('output counts until the end, and can be read after it', async () => {
    const { ownerNo, trigger } = await seedOwner(store)
    const device = { ownerNo, deviceId: 'd1' }
    for (const state of execStates) {
      const { firstExecutionId } = await createOne(store, trigger(['d1']))
      await report(store, output(device, firstExecutionId, 0, 'before'))
      await bringTo(store, ownerNo, firstExecutionId, state)
      const seen = await store.getDeviceExecution({ ...device, jobExecutionId: firstExecutionId })
      const outcome = await report(store, output(device, firstExecutionId, 6, ' and after'))
      if (isTerminal(state)) assert.deepEqual(outcome, { kind: 'wrong-state', execution: seen })
      else assert.equal(outcome.kind, 'output-kept')
      const question = { offset: 0, limit: 100, attempt: undefined }
      const slice = await store.readOutput({ ownerNo, jobExecutionId: firstExecutionId, ...question })
      assert.equal(slice?.ended, isTerminal(state))
      const expected = isTerminal(state) ? 'before' : 'before and after'
      assert.equal(Buffer.from(slice?.data ?? []).toString(), expected)
      assert.equal(slice?.length, expected.length)
    }
    await assertRunsAddUp(store, ownerNo)
  })

  await t.test(
    "of an execution that does not exist, or is another owner's, there is nothing to read",
    async () => {
      const { ownerNo, jobExecutionId, write } = await seedStarted()
      const { ownerNo: foreign } = await seedStarted()
      await write(0, 'secret')
      const question = { offset: 0, limit: 100, attempt: undefined }
      assert.equal(await store.readOutput({ ownerNo: foreign, jobExecutionId, ...question }), undefined)
      assert.equal(await store.readOutput({ ownerNo, jobExecutionId: 2 ** 40, ...question }), undefined)
    },
  )

  await t.test('large pieces of any bytes are returned unchanged', async () => {
    const { runId, read, write } = await seedStarted()
    const large = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256))
    await write(0, large.subarray(0, 65_536), 1_000_000)
    await write(60_000, large.subarray(60_000), 1_000_000)
    const whole = { length: large.length, cut: false, runId, ended: false }
    for (const [offset, limit] of [
      [0, 65_536],
      [65_535, 2],
      [65_536, 65_536],
      [99_999, 10],
      [100_000, 10],
      [2 ** 40, 10],
      [0, 0],
    ] as const) {
      const data = large.subarray(offset, offset + limit)
      assert.deepEqual(await read(offset, limit), { ...whole, data })
    }
  })

  await t.test('a reader beside a writer never sees more than the reported length', async () => {
    const { read, write, text } = await seedStarted()
    const pieces = testSize('pieces', { test: 60, chaos: 900 })
    // More at once would wait for a connection longer than the store lets them.
    const atOnce = 60
    for (let first = 0; first < pieces; first += atOnce) {
      const sent: Promise<unknown>[] = []
      const reads: ReturnType<typeof read>[] = []
      for (let at = first; at < Math.min(first + atOnce, pieces); at++) {
        sent.push(write(at, String.fromCharCode(97 + (at % 26))))
        reads.push(read(0, 1000))
      }
      for (const { data, length } of await Promise.all(reads)) assert.equal(data.length, length)
      await Promise.all(sent)
    }
    assert.equal((await text()).length, pieces)
  })

  await t.test('output is kept when the store is opened again, and continues where it was', async () => {
    const { ownerNo, device, jobExecutionId, write } = await seedStarted()
    await write(0, 'before')
    const again = await underTest.reopen()
    const gap = await report(again, output(device, jobExecutionId, 7, 'x', { moment: momentAt(startedAt) }))
    assert.deepEqual(gap, { kind: 'output-gap', length: 6 })
    await report(again, output(device, jobExecutionId, 6, ' after'))
    const slice = await again.readOutput({
      ownerNo,
      jobExecutionId,
      offset: 0,
      limit: 99,
      attempt: undefined,
    })
    assert.equal(Buffer.from(slice?.data ?? []).toString(), 'before after')
  })
}
