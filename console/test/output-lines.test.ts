import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseLine, plain } from '../src/screens/execution/ansi.ts'
import { findLines, longestLine, OutputLines } from '../src/screens/execution/output-lines.ts'
import { RowMap } from '../src/screens/execution/row-map.ts'
import { piecesOf } from '../src/screens/execution/row-pieces.ts'

const styled = (raw: string) => {
  const { line } = parseLine(raw, plain)
  return piecesOf(line, 0, line.text.length, '').map(({ text, classes }) => [text, classes])
}
const linesOf = (...pieces: string[]) => {
  const output = new OutputLines()
  for (const piece of pieces) output.append(piece)
  return output
}
const textsOf = (...pieces: string[]) => linesOf(...pieces).lines.map(({ text }) => text)

test('colours and weights become class names', () => {
  assert.deepEqual(styled('a\x1b[31mb\x1b[1mc\x1b[0md'), [
    ['a', ''],
    ['b', 'ansi-fg-1'],
    ['c', 'ansi-fg-1 ansi-bold'],
    ['d', ''],
  ])
  assert.deepEqual(styled('\x1b[92;44mx\x1b[39;49m'), [['x', 'ansi-fg-10 ansi-bg-4']])
  assert.deepEqual(styled('\x1b[7mx'), [['x', 'ansi-fg-back ansi-bg-front']])
  assert.deepEqual(styled('\x1b[38;5;196mx'), [['x', 'ansi-fg-9']])
  assert.deepEqual(styled('\x1b[38;2;0;200;10mx\x1b[my'), [
    ['x', 'ansi-fg-2'],
    ['y', ''],
  ])
})

test('all other control characters are removed', () => {
  const cases: [string, string][] = [
    ['\x1b[2J\x1b[H\x1b[?25lx\x1b[K', 'x'],
    ['\x1b]0;title\x07x', 'x'],
    ['\x1b]8;;https://elsewhere.invalid\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['a\x00b\x07c\x7fd', 'abcd'],
    ['10%\r50%\r100%', '100%'],
    ['done\r', 'done'],
    ['ab\bc', 'ac'],
    ['a\tb', 'a       b'],
    ['\x1b', ''],
    ['\x1b[31', '[31'],
  ]
  for (const [raw, text] of cases) assert.equal(parseLine(raw, plain).line.text, text, JSON.stringify(raw))
})

test('markup remains text', () => {
  const markup = '<script>alert(1)</script><img src=x onerror=alert(1)>'
  assert.deepEqual(styled(`\x1b[31m${markup}`), [[markup, 'ansi-fg-1']])
})

test('the lines are the same however the output is split', () => {
  const part = fc.constantFrom('a', 'word ', '\n', '\r\n', '\x1b[31m', '\x1b[0m', '\t', 'ä', '🙂', '<b>')
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
      const text = parts.join('')
      const positions = [
        0,
        ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b),
        text.length,
      ]
      const pieces = positions.slice(1).map((place, index) => text.slice(positions[index], place))
      assert.deepEqual(linesOf(...pieces).lines, linesOf(text).lines)
    }),
  )
})

test('an incomplete last line is shown, empty lines count, and a colour continues over lines', () => {
  assert.deepEqual(textsOf('a\n', 'b'), ['a', 'b'])
  assert.deepEqual(textsOf('a\n\nb\n'), ['a', '', 'b'])
  assert.deepEqual(linesOf('\x1b[32ma\nb\n').lines[1]?.styles, [{ start: 0, classes: 'ansi-fg-2' }])
})

test('an endless line continues in further rows, and no escape sequence is split', () => {
  const output = linesOf('x'.repeat(longestLine - 3), '\x1b[31m', 'y'.repeat(longestLine + 10), '\nend')
  assert.deepEqual(
    output.lines.map(({ goesOn }) => goesOn),
    [true, true, false, false],
  )
  const whole = output.lines
    .slice(0, 3)
    .map(({ text }) => text)
    .join('')
  assert.equal(whole, 'x'.repeat(longestLine - 3) + 'y'.repeat(longestLine + 10))
})

test('rows and lines are mapped to each other, wrapped or not, while lines are added', () => {
  const { lines } = linesOf(`short\n${'x'.repeat(25)}\n\nlast`)
  const map = new RowMap(10)
  assert.equal(map.extend(lines.slice(0, 2)), 4)
  assert.equal(map.extend(lines), 6)
  const rows = Array.from({ length: 6 }, (_, row) => map.partOf(row, lines))
  assert.deepEqual(rows, [
    { line: 0, from: 0, to: 5 },
    { line: 1, from: 0, to: 10 },
    { line: 1, from: 10, to: 20 },
    { line: 1, from: 20, to: 25 },
    { line: 2, from: 0, to: 0 },
    { line: 3, from: 0, to: 4 },
  ])
  assert.equal(map.rowOf(3), 5)
  assert.equal(new RowMap(undefined).extend(lines), 4)
})

test('a search ignores case, and marks matches across colours', async () => {
  const { lines } = linesOf('one\nT\x1b[31mwo\x1b[0m\nthree two')
  assert.deepEqual(await findLines(lines, 'TWO', new AbortController().signal), [1, 2])
  const pieces = piecesOf(lines[1] as (typeof lines)[number], 0, 3, 'two')
  assert.ok(pieces.every(({ isFound }) => isFound))
})
