// Patterns of parameters match like in JavaScript, and none of them takes long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  compilePattern,
  judgeParameters,
  MatchBudget,
  maxMatchSteps,
  PatternCache,
  PatternError,
  patternCache,
} from '@jobcast/contract/parameters'
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
      const compiled = compilePattern(source)
      for (const chars of texts) {
        const each = chars.join('')
        const expected = matchesSomewhere(source, chars) ? 'matches' : 'differs'
        assert.equal(compiled.match(each, new MatchBudget()), expected, each)
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

const exploding = [
  '^(a+)+$',
  '^(a|aa)+$',
  '^(a|a)*$',
  '(.*)*x',
  'a*a*a*a*a*b',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?:a?){250}a{250}',
  '(?:a|){240}b',
  // The most work there can be: all steps at all characters of the largest value.
  `[${'ac'.repeat(200)}]{1,300}b`,
]

/** Counted, not timed: the machine may be busy. */
function stepsOf(source: string, text: string): number {
  const budget = new MatchBudget(Number.MAX_SAFE_INTEGER)
  compilePattern(source).match(text, budget)
  return Number.MAX_SAFE_INTEGER - budget.left
}

test('patterns that make other engines explode take linear time', () => {
  const half = 'a'.repeat(2 * 1024)
  for (const source of exploding) {
    const [once, twice] = [stepsOf(source, `${half}!`), stepsOf(source, `${half}${half}!`)]
    assert(twice < once * 2.2, `${source}: ${once} steps, then ${twice}`)
    // Each step leads to at most two, each followed once a position.
    assert(once <= compilePattern(source).size * 3 * (half.length + 2), `${source}: ${once} steps`)
  }
})

test('all values of a call have one budget, and a value beyond it is refused with its field', () => {
  const slow = { type: 'string' as const, pattern: '(?:a|){240}b' }
  const list = { type: 'array' as const, items: slow }
  const judge = (given: object) =>
    judgeParameters({ type: 'object', properties: { one: slow, other: slow, list } }, given)
  const long = 'a'.repeat(15_000)
  for (const [given, field] of [
    [{ one: long }, 'parameters.one'],
    [{ one: `${'a'.repeat(150)}b`, other: long }, 'parameters.other'],
    [{ list: ['b', ...Array.from({ length: 50 }, () => `${'a'.repeat(250)}b`)] }, /^parameters\.list\.\d+$/],
  ] as const) {
    const [problem] = judge(given).problems
    if (typeof field === 'string') assert.equal(problem?.field, field)
    else assert.match(problem?.field ?? '', field)
    assert.match(problem?.message ?? '', /^takes too many steps to match the pattern \(\?:a\|\)\{240\}b/)
  }
  assert.deepEqual(judge({ one: 'ab', list: ['b', 'ab'] }).problems, [])
  const budget = new MatchBudget()
  assert.equal(compilePattern(slow.pattern).match(long, budget), 'over-budget')
  assert.equal(budget.left, -1, 'it stops where the budget ends')
})

test('a usual pattern takes the longest value there can be', () => {
  const base64 = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
  const hosts = '^[a-z0-9.-]{1,63}(?:,[a-z0-9.-]{1,63})*$'
  assert(stepsOf(base64, 'abcd'.repeat(4000)) < maxMatchSteps)
  assert(stepsOf(hosts, Array(500).fill('host-1.example.com').join(',')) < maxMatchSteps)
})

test('a pattern is compiled once, however many values it is for', () => {
  const schema = {
    type: 'object' as const,
    properties: {
      list: { type: 'array' as const, items: { type: 'string' as const, pattern: '^once{2}$' } },
    },
  }
  const before = patternCache.compiled
  for (let run = 0; run < 3; run++) {
    assert.deepEqual(judgeParameters(schema, { list: Array(500).fill('oncee') }).problems, [])
  }
  assert.equal(patternCache.compiled - before, 1)
})

test('the cache of patterns is bounded by their steps, and keeps what was used last', () => {
  const cache = new PatternCache(1000)
  for (let each = 0; each < 50; each++) {
    cache.get('kept')
    cache.get(`x${each}{300}`)
    assert(cache.steps <= 1000)
  }
  assert.equal(cache.compiled, 51)
})

test('looking thousands of items up in thousands of choices reads the choices once', () => {
  let read = 0
  const choice = { toJSON: () => `read ${++read}` }
  const items = { type: 'string' as const, enum: [choice as unknown as string, 'a'] }
  const schema = { type: 'object' as const, properties: { list: { type: 'array' as const, items } } }
  assert.deepEqual(judgeParameters(schema, { list: Array(2000).fill('a') }).problems, [])
  assert.equal(read, 1)
})
