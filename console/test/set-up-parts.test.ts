// The pieces of the forms that need no browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffLines, onlyChanges } from '../src/diff/diff-lines.ts'
import { judgeTexts } from '../src/parameters/parameter-texts.ts'
import { parseDuration, writeDuration } from '../src/parts/duration.ts'
import { findJsonError } from '../src/parts/find-json-error.ts'
import { spansOf, summaryOf } from '../src/screens/device/presence-spans.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a text is reported as invalid exactly if it is not JSON', () => {
  const piece = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-0.5e3',
      '01',
      'true',
      'nul',
      '\\',
      '\\u00e9',
      ' ',
      '\n',
      '\t',
      'é',
    ],
  )
  const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.oneof(soup, fc.json(), fc.string()), (text) => {
      assert.equal(findJsonError(text) === undefined, isJson(text), JSON.stringify(text))
    }),
    { numRuns: 3000 },
  )
})

test('the position of a character removed from JSON is found', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (json, seed) => {
      const place = seed % json.length
      const broken = json.slice(0, place) + json.slice(place + 1)
      const error = findJsonError(broken)
      if (error) assert.ok(error.offset <= broken.length && error.line >= 1 && error.column >= 1)
    }),
  )
})

for (const [text, line, column, message] of [
  ['', 1, 1, 'The text is empty'],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'A comma or } is missing'],
  ['{"a": 1,}', 1, 9, 'A name in double quotes is missing'],
  ['{"a" 1}', 1, 6, 'A colon is missing'],
  ['{"a": }', 1, 7, 'A value is missing'],
  ['{\n  "a": [1', 2, 10, 'The [ of line 2 is not closed'],
  ['{"a": "b\n"}', 1, 7, 'This string is not closed on its line'],
  ["{'a': 1}", 1, 2, 'A name in double quotes is missing'],
  ['{} {}', 1, 4, 'Unexpected text after the end'],
] as const) {
  test(`${JSON.stringify(text)}: ${message}`, () => {
    const error = findJsonError(text)
    assert.deepEqual([error?.line, error?.column, error?.message], [line, column, message])
  })
}

test('a duration is parsed as it is written', () => {
  fc.assert(
    fc.property(fc.nat(31_536_000), (seconds) => {
      assert.equal(parseDuration(writeDuration(seconds)), seconds)
    }),
  )
  assert.deepEqual(
    ['90', '5 min', '2h', '1 h 30 m', '3 days', 'soon', '', '-1', '1 week'].map(parseDuration),
    [90, 300, 7200, 5400, 259_200, undefined, undefined, undefined, undefined],
  )
})

const hour = 3_600_000
const at = (hours: number) => hours * hour

test('changes of presence become spans of the requested range', () => {
  const changes = [
    { at: at(10), online: true },
    { at: at(20), online: false },
    { at: at(21), online: true },
  ]
  const now = { online: true, since: at(21), createdAt: at(5) }
  assert.deepEqual(spansOf(changes, now, at(0), at(24)), [
    { from: at(0), to: at(5), online: undefined },
    { from: at(5), to: at(10), online: false },
    { from: at(10), to: at(20), online: true },
    { from: at(20), to: at(21), online: false },
    { from: at(21), to: at(24), online: true },
  ])
  assert.deepEqual(spansOf(changes, now, at(22), at(24)), [{ from: at(22), to: at(24), online: true }])
  assert.deepEqual(summaryOf(spansOf(changes, now, at(10), at(24))), {
    onlineShare: 13 / 14,
    timesOffline: 1,
    longestOfflineMs: hour,
  })
})

test('presence before the retained log is unknown, except for the current state', () => {
  const now = { online: true, since: at(20), createdAt: at(1) }
  assert.deepEqual(spansOf([], now, at(0), at(24)), [
    { from: at(0), to: at(20), online: undefined },
    { from: at(20), to: at(24), online: true },
  ])
})

test('a device that never connected was offline since its creation', () => {
  const now = { online: false, since: undefined, createdAt: at(4) }
  assert.deepEqual(spansOf([], now, at(0), at(24)), [
    { from: at(0), to: at(4), online: undefined },
    { from: at(4), to: at(24), online: false },
  ])
})

test('a comparison has every line of both texts once and in order, and pairs equal lines', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(text, text, (left, right) => {
      const rows = diffLines(left.join('\n'), right.join('\n'))
      const half = (side: 'left' | 'right') => rows.flatMap((row) => row[side]?.text ?? []).join('\n')
      assert.deepEqual([half('left'), half('right')], [left.join('\n'), right.join('\n')])
      for (const row of rows) assert.equal(row.isSame, row.left?.text === row.right?.text)
      const changed = rows.filter(({ isSame }) => !isSame)
      assert.equal(changed.length === 0, left.join('\n') === right.join('\n'))
      const shown = onlyChanges(rows)
      assert.ok(changed.every((row) => shown.some((each) => each.row === row)))
    }),
  )
})

test('a text in a parameter field becomes a value of its type, or is refused', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      count: { type: 'integer', minimum: 1, default: 3 },
      isOn: { type: 'boolean' },
      ports: { type: 'array', items: { type: 'integer' } },
    },
    required: ['name'],
  } as const
  const judge = (texts: Record<string, string>, document: object = {}) => {
    const { given, problems } = judgeTexts(structuredClone(schema) as never, document, texts)
    return [given, Object.fromEntries(problems)]
  }
  assert.deepEqual(judge({ name: '12', isOn: 'false', ports: '80\n\n443' }), [
    { name: '12', isOn: false, ports: [80, 443] },
    {},
  ])
  assert.deepEqual(judge({ count: '0', ports: '80\nssh' }), [
    { count: 0, ports: [80, 'ssh'] },
    { name: 'is required', count: 'must be at least 1', ports: 'must be an integer' },
  ])
  // What the document uses needs a value.
  assert.deepEqual(judge({ name: 'a', count: ' ' }, { run: '${params.isOn}' })[1], {
    count: 'must be an integer',
    isOn: 'is required',
  })
})
