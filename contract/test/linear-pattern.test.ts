// Patterns of parameters mean what they mean in JavaScript, and none of them takes long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compilePattern, PatternError } from '@jobcast/contract/parameters'
import { randomInputs, testSeed } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '\\d',
  '\\W',
  '[ab]',
  '[^a-c]',
  '[\\d_-]',
  '[^\\s]',
  '\\.',
  '\\u{e9}',
  '1',
  'é',
  '\u{1F6AA}',
)
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?')
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    fc.constantFrom('^', '$', '\\b', '\\B', ''),
    fc.tuple(tie('node'), tie('node')).map((parts) => parts.join('')),
    fc.tuple(tie('node'), tie('node')).map(([one, other]) => `(?:${one}|${other})`),
    fc.tuple(tie('node'), quantifier).map(([of, times]) => `(${of})${times}`),
  ),
})).node
const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', '_', '-', ' ', '.', '\n', 'é', '\u{1F6AA}'), {
  maxLength: 8,
})

/** From the beginning of each character: V8 also tries to match nothing between the two halves of one. */
function matchesSomewhere(source: string, chars: string[]): boolean {
  const expected = new RegExp(source, 'uy')
  const text = chars.join('')
  for (let index = 0, at = 0; index <= chars.length; at += chars[index++]?.length ?? 0) {
    expected.lastIndex = at
    if (expected.test(text)) return true
  }
  return false
}

test(`random patterns match what JavaScript matches (seed ${testSeed})`, () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (source, texts) => {
      const matches = compilePattern(source)
      for (const chars of texts) {
        const each = chars.join('')
        assert.equal(matches(each), matchesSomewhere(source, chars), each)
      }
    }),
    randomInputs({ test: 500, chaos: 20_000 }),
  )
})

const unsupported = [
  '(?=a)',
  '(?!a)',
  '(?<=a)',
  '(?<x>a)',
  '(a)\\1',
  '\\k<x>',
  '\\p{L}',
  '\\cA',
  '\\ud83d\\ude00',
]
const malformed = [
  '(',
  ')',
  '[',
  '[b-a]',
  'a{2,1}',
  '*',
  'a**',
  '{',
  '}',
  ']',
  '\\',
  '\\x1',
  '\\u{110000}',
  'a{1001}',
  '^*',
]

test('what is not supported or no pattern is refused with its position', () => {
  for (const source of [...unsupported, ...malformed]) {
    assert.throws(() => compilePattern(source), PatternError, source)
  }
  assert.throws(() => compilePattern('ab(?=c)'), /at character 5/)
})

/** CPU time: on a busy machine the clock counts the work of others. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  return process.threadCpuUsage(before).user / 1000
}

test('patterns that make other engines explode take linear time', () => {
  const exploding = [
    '^(a+)+$',
    '^(a|aa)+$',
    '^(a|a)*$',
    '(.*)*x',
    'a*a*a*a*a*b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(?:a?){250}a{250}',
  ]
  // The most work there can be: all steps at all characters of the largest value.
  const wide = `[${'ac'.repeat(200)}]{1,300}b`
  const half = 'a'.repeat(8 * 1024)
  for (const source of [...exploding, wide]) {
    const matches = compilePattern(source)
    const once = cpuMs(() => matches(`${half}!`))
    const twice = cpuMs(() => matches(`${half}${half}!`))
    assert(twice < Math.max(500, once * 8), `${source}: ${once} ms, then ${twice} ms`)
  }
})
