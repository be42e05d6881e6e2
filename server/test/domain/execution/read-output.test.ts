// Output, slice by slice, with and without following.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '../../../src/domain/access/caller.ts'
import type { ExecutionKey } from '../../../src/domain/execution/ports/executions.ts'
import {
  type OutputQuery,
  type ReadOutputDeps,
  readOutput,
} from '../../../src/domain/execution/read-output.ts'
import { ChangeSignal } from '../../../src/state/change-signal.ts'

const caller = { ownerNo: 1 } as Caller
const runId = 7
const id = 42

/** Output by attempt, kept in memory. */
function buildOutput() {
  const kept: { bytes: Buffer; cut: boolean; ended: boolean }[] = []
  const changes = new ChangeSignal()
  const outputs = new ChangeSignal()
  const stopping = new AbortController()
  const callerGone = new AbortController()
  const state = { reads: 0, idle: 0, onIdle: () => {} }
  const newest = () => kept.length
  const store = {
    getExecution: async (asked: ExecutionKey) =>
      asked.jobExecutionId === id ? { attempt: newest() } : undefined,
    readOutput: async (slice: ExecutionKey & { offset: number; limit: number; attempt: number }) => {
      state.reads++
      const output = kept[slice.attempt - 1]
      if (slice.jobExecutionId !== id || output === undefined) return undefined
      const { bytes, cut, ended } = output
      const data = bytes.subarray(slice.offset, slice.offset + slice.limit)
      return { data, length: bytes.length, cut, ended, runId }
    },
  } as unknown as ReadOutputDeps['store']
  const deps: ReadOutputDeps = { store, changes, outputs, stopping: stopping.signal }
  const add = (text: string, more: { cut?: boolean; ended?: boolean } = {}) => {
    const output = kept.at(-1) as (typeof kept)[number]
    Object.assign(output, { bytes: Buffer.concat([output.bytes, Buffer.from(text)]), ...more })
    if (text !== '') outputs.notify([id])
    if (more.ended) changes.notify([runId])
  }
  const start = (text = '') => {
    if (kept.length > 0) add('', { ended: true })
    kept.push({ bytes: Buffer.from(text), cut: false, ended: false })
  }
  const read = (wish: Partial<OutputQuery> = {}, asked = id) =>
    readOutput(deps, caller, asked, {
      attempt: undefined,
      offset: 0,
      follow: false,
      callerGone: callerGone.signal,
      onIdle: () => {
        state.idle++
        state.onIdle()
      },
      ...wish,
    })
  const text = async (wish: Partial<OutputQuery> = {}) => {
    let all = ''
    for await (const slice of (await read(wish)).slices) all += Buffer.from(slice).toString()
    return all
  }
  const removeAll = () => {
    Object.assign(kept.at(-1) as (typeof kept)[number], { bytes: Buffer.alloc(0) })
    outputs.notify([id])
  }
  return { add, removeAll, start, read, text, state, changes, outputs, stopping, callerGone }
}

test('the whole output comes in slices of 64 KiB, from the offset on', async () => {
  const output = buildOutput()
  const long = 'x'.repeat(150_000)
  output.start(long)
  assert.equal(await output.text(), long)
  assert.equal((await output.text({ offset: 149_990 })).length, 10)
  const sizes: number[] = []
  for await (const slice of (await output.read()).slices) sizes.push(slice.length)
  assert.deepEqual(sizes, [65_536, 65_536, 18_928])
})

test('an offset at or beyond the end gives nothing, and the length is known before', async () => {
  const output = buildOutput()
  output.start('abc')
  for (const offset of [3, 4, 1_000_000]) assert.equal(await output.text({ offset }), '')
  const { length, attempt } = await output.read({ offset: 99 })
  assert.deepEqual([length, attempt], [3, 1])
})

test('answers J-302 for an execution that is not there', async () => {
  const output = buildOutput()
  output.start()
  await assert.rejects(output.read({}, 43), { code: 'J-302' })
})

test('truncated output ends with a note, if it is read to the end', async () => {
  const output = buildOutput()
  output.start()
  output.add('abc', { cut: true })
  const line = '\n[jobcast: output cut after 3 bytes]\n'
  assert.equal(await output.text(), `abc${line}`)
  assert.equal(await output.text({ offset: 3 }), line)
  const first = (await output.read()).slices
  assert.equal(Buffer.from((await first.next()).value ?? '').toString(), 'abc')
  await first.return(undefined)
})

test('a follower gets new output until the execution ends, each byte once', async () => {
  const output = buildOutput()
  output.start('one ')
  const steps = [() => output.add('two '), () => output.add(''), () => output.add('three', { ended: true })]
  output.state.onIdle = () => steps.shift()?.()
  assert.equal(await output.text({ follow: true }), 'one two three')
  assert.ok(!output.outputs.isWatched && !output.changes.isWatched)
})

test('a lost hint only costs two seconds', { timeout: 50_000 }, async () => {
  const output = buildOutput()
  output.start('one ')
  const { outputs, changes } = output
  outputs.notify = () => {}
  changes.notify = () => {}
  let added = false
  output.state.onIdle = () => {
    if (!added) output.add('two', { ended: true })
    added = true
  }
  const begun = performance.now()
  assert.equal(await output.text({ follow: true }), 'one two')
  assert.ok(performance.now() - begun > 1900)
})

test('a follower gets the truncation note once, and continues until the end', async () => {
  const output = buildOutput()
  output.start('ab')
  const steps = [
    () => output.add('c', { cut: true }),
    () => output.outputs.notify([id]),
    () => output.add('', { ended: true }),
  ]
  output.state.onIdle = () => steps.shift()?.()
  assert.equal(await output.text({ follow: true }), 'abc\n[jobcast: output cut after 3 bytes]\n')
  assert.equal(steps.length, 0)
})

test('a follower gets the next attempt after a line that announces it', async () => {
  const output = buildOutput()
  output.start('first')
  const steps = [() => output.start(), () => output.add('second', { ended: true })]
  output.state.onIdle = () => steps.shift()?.()
  assert.equal(await output.text({ follow: true }), 'first\n[jobcast: attempt 2]\nsecond')
})

test('without follow it is the newest attempt; an attempt that is asked for ends with itself', async () => {
  const output = buildOutput()
  output.start('first')
  output.start('second')
  assert.equal(await output.text(), 'second')
  assert.equal(await output.text({ attempt: 1 }), 'first')
  assert.equal(await output.text({ attempt: 1, follow: true }), 'first')
})

for (const who of ['callerGone', 'stopping'] as const) {
  test(`following ends when ${who === 'stopping' ? 'the service stops' : 'the reader goes'}`, async () => {
    const output = buildOutput()
    output.start('abc')
    output.state.onIdle = () => setImmediate(() => output[who].abort())
    assert.equal(await output.text({ follow: true }), 'abc')
    assert.ok(!output.outputs.isWatched && !output.changes.isWatched)
  })
}

test('a reader that disconnects between two slices leaves no watch behind', async () => {
  const output = buildOutput()
  output.start('x'.repeat(200_000))
  const { slices } = await output.read({ follow: true })
  await slices.next()
  assert.ok(output.outputs.isWatched)
  await slices.return(undefined)
  assert.ok(!output.outputs.isWatched && !output.changes.isWatched)
})

test('a follower is informed that output was removed because its device postponed, and gets the following output', async () => {
  const output = buildOutput()
  output.start('in vain')
  let idle = 0
  output.state.onIdle = () => {
    if (++idle === 1) output.removeAll()
    else output.add('done', { ended: true })
  }
  const text = await output.text({ follow: true })
  assert.equal(text, 'in vain\n[jobcast: output removed: the device runs this again later]\ndone')
})
