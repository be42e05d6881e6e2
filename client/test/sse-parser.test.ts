// Server-sent events, however the bytes arrive.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { type SseBlock, SseParser } from '../src/sse-parser.ts'

function parse(...pieces: (string | Uint8Array)[]): SseBlock[] {
  const parser = new SseParser()
  return pieces.flatMap((piece) =>
    parser.push(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece),
  )
}

const block = (fields: Partial<SseBlock>): SseBlock => ({
  id: undefined,
  event: undefined,
  data: undefined,
  ...fields,
})

const cases: [string, string, SseBlock[]][] = [
  ['an event', 'id: 1\nevent: a\ndata: x\n\n', [block({ id: '1', event: 'a', data: 'x' })]],
  ['an id without data', 'id: 7\n\n', [block({ id: '7' })]],
  ['data of several lines', 'data: a\ndata\ndata:b\n\n', [block({ data: 'a\n\nb' })]],
  ['only the first blank behind the colon is left out', 'data:  a: b \n\n', [block({ data: ' a: b ' })]],
  ['comments and unknown fields', ': beat\nretry: 5\nfoo: 1\n\ndata: x\n\n', [block({ data: 'x' })]],
  ['a block that is not ended', 'data: x\n\nid: 2\ndata: y\n', [block({ data: 'x' })]],
  ['a byte order mark', '\uFEFFdata: x\n\n', [block({ data: 'x' })]],
  ['an id with a null character', 'id: a\0\ndata: x\n\n', [block({ data: 'x' })]],
  ['all three ends of a line', 'id: 1\r\ndata: a\rdata: b\n\r\n', [block({ id: '1', data: 'a\nb' })]],
]
for (const [title, text, blocks] of cases) {
  test(`parses ${title}`, () => assert.deepEqual(parse(text), blocks))
}

test('a line feed that arrives separately after a carriage return ends no second line', () => {
  assert.deepEqual(parse('data: a\r', '\ndata: b\r', '\n\r', '\n', 'data: c\n\n'), [
    block({ data: 'a\nb' }),
    block({ data: 'c' }),
  ])
})

const lineText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n\0\uFEFF]/g, ''))
const given = fc.record({
  id: lineText,
  event: lineText,
  data: fc.array(lineText, { minLength: 1, maxLength: 4 }),
  comment: fc.boolean(),
})

test('returns the same blocks for any content, any line endings, and wherever the bytes are split', () => {
  fc.assert(
    fc.property(
      fc.array(given, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat({ max: 400 })),
      (events, end, cuts) => {
        const lines = events.flatMap(({ id, event, data, comment }) => [
          `id: ${id}`,
          ...(comment ? [': beat'] : []),
          `event: ${event}`,
          ...data.map((line) => `data: ${line}`),
          '',
        ])
        const bytes = new TextEncoder().encode(lines.map((line) => line + end).join(''))
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
        const pieces = places.map((place, index) => bytes.subarray(place, places[index + 1]))
        const expected = events.map(({ id, event, data }) => ({ id, event, data: data.join('\n') }))
        assert.deepEqual(parse(...pieces), expected)
      },
    ),
    randomInputs({ test: 300, chaos: 20000 }),
  )
})
