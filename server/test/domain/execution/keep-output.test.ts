// Which bytes of what a device sends are kept: a table of offsets, lengths and limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveExecution } from '../../../src/domain/execution/execution-move.ts'
import { keepOutput } from '../../../src/domain/execution/keep-output.ts'

/** Only what the rule looks at. */
const withOutput = (outputBytes: number, outputCut = false) =>
  ({
    jobExecutionId: 7,
    runId: 3,
    outputBytes,
    outputCut,
    outputPieces: 0,
    life: { attempt: 2 },
  }) as LiveExecution

/** [what, bytes kept before, offset, text sent, limit, text kept, length after, cut] */
const cases: [string, number, number, string, number, string, number, boolean][] = [
  ['the first bytes', 0, 0, 'abc', 10, 'abc', 3, false],
  ['what follows', 3, 3, 'def', 10, 'def', 6, false],
  ['an overlap: only what is new', 3, 1, 'bcdef', 10, 'def', 6, false],
  ['the same once more: nothing', 3, 0, 'abc', 10, '', 3, false],
  ['nothing at all', 3, 3, '', 10, '', 3, false],
  ['up to the limit', 3, 3, 'def', 6, 'def', 6, false],
  ['beyond the limit: the rest is dropped and the cut is marked', 3, 3, 'defg', 6, 'def', 6, true],
  ['all of it beyond the limit', 6, 6, 'g', 6, '', 6, true],
  ['a limit that was lowered', 6, 6, 'g', 2, '', 6, true],
]

for (const [what, before, offset, sent, maxBytes, kept, length, cut] of cases) {
  test(`keeps ${what}`, () => {
    const live = withOutput(before)
    const { outcome, execution, piece } = keepOutput(live, {
      offset,
      data: Buffer.from(sent),
      maxBytes,
      maxPieces: 0,
    })
    assert.deepEqual(outcome, { kind: 'output-kept', length, cut, runId: 3 })
    assert.equal(Buffer.from(piece?.data ?? []).toString(), kept)
    if (piece) assert.deepEqual([piece.jobExecutionId, piece.attempt, piece.start], [7, 2, before])
    const isNew = offset + sent.length > before
    assert.deepEqual(
      execution,
      isNew
        ? {
            ...live,
            outputBytes: length,
            outputCut: cut,
            outputPieces: live.outputPieces + Number(kept !== ''),
          }
        : undefined,
    )
  })
}

test('a gap keeps nothing and says where to continue', () => {
  const kept = keepOutput(withOutput(3), { offset: 4, data: Buffer.from('e'), maxBytes: 10, maxPieces: 0 })
  assert.deepEqual(kept, { outcome: { kind: 'output-gap', length: 3 } })
})

test('nothing is kept behind a cut', () => {
  const kept = keepOutput(withOutput(3, true), {
    offset: 3,
    data: Buffer.from('d'),
    maxBytes: 10,
    maxPieces: 0,
  })
  assert.deepEqual(kept, { outcome: { kind: 'output-kept', length: 3, cut: true, runId: 3 } })
})

test('output ends with its last piece, however small the pieces are', () => {
  const send = (live: LiveExecution, data: string) =>
    keepOutput(live, { offset: live.outputBytes, data: Buffer.from(data), maxBytes: 100, maxPieces: 2 })
  let live = withOutput(0)
  for (const data of ['a', 'b']) live = send(live, data).execution ?? live
  assert.deepEqual([live.outputBytes, live.outputPieces, live.outputCut], [2, 2, false])
  const { outcome, execution, piece } = send(live, 'c')
  assert.deepEqual(outcome, { kind: 'output-kept', length: 2, cut: true, runId: 3 })
  assert.equal(piece, undefined)
  assert.equal(execution?.outputCut, true)
})
