// Every regular expression for untrusted input takes linear and not quadratic time: each one in the sources and in the schemas
// is run on 8 KB of every class of characters, after every prefix that matches further.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as contract from '@jobcast/contract'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bytes = 8 * 1024
/** Of CPU time. A quadratic one takes 60 ms and more, a linear one well below one; a busy machine disturbs some of the tries. */
const mostMs = 10
const tries = 5

const classes = [' ', '\t', '\n', 'a', 'A', 'Z', '0', '9', '/', '\\', '-', '_', '.', ',', ';', '=', '"', "'"]
const more = [
  '+',
  '%',
  '#',
  '?',
  ':',
  '@',
  '[',
  '{',
  '~',
  '\0',
  '\u0085',
  '\u00a0',
  'é',
  '\ud800',
  '\u202e',
  '1.',
  'a,',
]
const beginnings = [
  '',
  'a',
  'application/json',
  'application/json; charset=',
  'Bearer ',
  'https://',
  'whsec_',
  '2026-11-15T09:30:00.',
  '/job/api',
  '//job',
  'run.created,',
  'jc_',
  '2.4-',
  '2.4+',
]
const ends = ['!', ';x=1']

/** A literal behind an operator, a bracket or `return`; a division is never there. */
const literal = /(?:[=(,:[?&|!]|return)\s*(\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*)/g

function inSources(): [string, RegExp][] {
  const files = globSync(
    ['contract/src/**/*.ts', 'server/src/{http,gateway,domain,limits,observe}/**/*.ts'],
    { cwd: root },
  )
  return files.flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8').replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
    return Array.from(text.matchAll(literal), ([, found = '']): [string, RegExp] => {
      const end = found.lastIndexOf('/')
      return [
        `${file} ${found}`,
        new RegExp(found.slice(1, end), found.slice(end + 1).replaceAll(/[gy]/g, '')),
      ]
    })
  })
}

function inSchemas(): [string, RegExp][] {
  const patterns = new Set<string>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if ('pattern' in value && typeof value.pattern === 'string') patterns.add(value.pattern)
    Object.values(value).forEach(visit)
  }
  Object.values(contract).forEach(visit)
  return Array.from(patterns, (pattern) => [pattern, new RegExp(pattern, 'u')])
}

const texts = [...classes, ...more].flatMap((unit) =>
  beginnings.flatMap((beginning) => ends.map((end) => beginning + unit.repeat(bytes / unit.length) + end)),
)

/** Up to the first that takes too long. */
function slowest(expression: RegExp): { ms: number; text: string } {
  let worst = { ms: 0, text: '' }
  for (const text of texts) {
    const ms = timeOf(expression, text)
    if (ms > worst.ms) worst = { ms, text }
    if (ms > mostMs) break
  }
  return worst
}

/** The best of some tries, and only one where that is quick. */
function timeOf(expression: RegExp, text: string): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries && best > mostMs; i++) {
    const begun = process.threadCpuUsage()
    expression.test(text)
    const { user, system } = process.threadCpuUsage(begun)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

const expressions = [...inSources(), ...inSchemas()]

test('the expressions of sources and schemas are found', () => {
  assert.ok(inSources().length > 15, `${inSources().length} in sources`)
  assert.ok(inSchemas().length > 8, `${inSchemas().length} in schemas`)
})

test('the expression that once stopped the service is told from a linear one', () => {
  const quadratic = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i
  assert.ok(slowest(quadratic).ms > mostMs)
})

for (const [name, expression] of expressions) {
  test(`${name} is linear`, () => {
    const { ms, text } = slowest(expression)
    assert.ok(ms <= mostMs, `${ms} ms for ${JSON.stringify(text.slice(0, 40))}…`)
  })
}
