// jobcast-agent.sh validates the values of signed parameters, and matches patterns, like the service and jobcast-agent.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkParameterSchema, judgeParameters } from '@jobcast/contract/parameters'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { isChaos } from '@jobcast/testkit/test-size'

const script = readFileSync(new URL('../bin/jobcast-agent.sh', import.meta.url), 'utf8')
/** Its functions, without the main program. */
const functions = script.slice(0, script.indexOf('\nread_flags "$@"\n'))
const versions = [['awk'], ['busybox', 'awk'], ['gawk'], ['original-awk']].filter(
  ([program = '', ...words], index) =>
    index === 0 || (isChaos && spawnSync(program, [...words, 'BEGIN {}']).status === 0),
)

type Case = [property: object, value: unknown]

/** A failsafe, far above the time of a start of the program. */
const mostMs = 300_000

const patterns = [
  ...['^[a-z]+$', '^v?\\d+(?:\\.\\d+){2}$', 'a|b|', '^(?:a|b){2,3}$', '^[^/]*$', '^.$', '\\bfoo\\b', '\\B.'],
  ...['^[\\w.-]{1,8}$', '^https://[a-z.]+/', '(?:a{3}){2}', '[ü-ž]', '^\\S+$', '^[a\\-z]$', '^(a*)*$', '^$'],
  ...['[\\d-]', '^\\/x$', '^a+?$', '^[^\\d]$', '😀{2}', '^[^]$'],
]
const texts = [
  ...[
    '',
    'a',
    'ab',
    'aab',
    'aaaaaa',
    'v1.2.3',
    '1.2',
    'a foo b',
    'foobar',
    'ü',
    'a/b',
    'https://x.y/',
    '-',
    'z',
  ],
  ...['😀', '😀😀', 'a\nb', '9', '/x', 'A b', `${'a'.repeat(40)}b`],
]
const others: Case[] = [
  ...[1, 1.5, -1, 7, 2 ** 53, 'x', true, null].map(
    (value): Case => [{ type: 'integer', minimum: 0, maximum: 7 }, value],
  ),
  ...[0.3, 0.35, 1e300, 2, 3].map(
    (value): Case => [{ type: 'number', multipleOf: 0.1, exclusiveMaximum: 3 }, value],
  ),
  ...['ab', 'abc', 'äöü', 'a', 3, ['a']].map(
    (value): Case => [{ type: 'string', minLength: 2, maxLength: 3 }, value],
  ),
  ...[['a'], [], ['a', 'a'], ['a', 'b', 'c'], [1], 'a', [['a']]].map(
    (value): Case => [
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
      value,
    ],
  ),
  ...[1, '1', 2, true].map((value): Case => [{ type: 'integer', enum: [1, 3] }, value]),
  ...[true, false, 'true', 1].map((value): Case => [{ type: 'boolean' }, value]),
  ...["it's $(id) `id`", '"\\\n\t'].map((value): Case => [{ type: 'string', const: '"\\\n\t' }, value]),
]
const cases = [
  ...patterns.flatMap((pattern) => texts.map((text): Case => [{ type: 'string', pattern }, text])),
  ...others,
]

for (const words of versions) {
  test(`values are validated in the same way with ${words.join(' ')}`, (t) => {
    const folder = temporaryFolder(t)
    // Several values in a schema, so that the program is started less often; each by itself where one is refused.
    const properties = (list: Case[]) =>
      Object.fromEntries(list.map(([property], index) => [`p${index}`, property]))
    const judge = (list: Case[]) => {
      const parameters = { type: 'object', properties: properties(list) }
      const values = Object.fromEntries(list.map(([, value], index) => [`p${index}`, value]))
      const { problems } = judgeParameters(checkParameterSchema(parameters), values)
      const names = list.map((_, index) => `p${index}`)
      const document = { all: names.map((name) => `\${params.${name}}`) }
      writeFileSync(join(folder, 'payload'), JSON.stringify({ document, parameters }))
      writeFileSync(join(folder, 'handed'), JSON.stringify({ execution: { parameters: values } }))
      const last = `find_machine; if fill_document; then cat "$folder/document"; else printf '%s' "refused: $problem"; fi`
      const setUp = `folder='${folder}' tmp='${folder}/tmp' device=d\nawk() { command ${words.join(' ')} "$@"; }`
      const { stdout, stderr } = spawnSync('sh', ['-c', `${functions}\n${setUp}\n${last}`], {
        encoding: 'utf8',
        timeout: mostMs,
      })
      assert.equal(stderr, '')
      return { problems, stdout, expected: JSON.stringify({ all: list.map(([, value]) => value) }) }
    }
    // Alone, so that no pattern was compiled before it.
    const empty = judge([[{ type: 'string', pattern: '' }, '-x']])
    assert.equal(empty.stdout, empty.expected)
    const isGood = ([property, value]: Case) =>
      judgeParameters(checkParameterSchema({ type: 'object', properties: { x: property } }), { x: value })
        .problems.length === 0
    const good = cases.filter(isGood)
    for (let at = 0; at < good.length; at += 60) {
      const { stdout, expected } = judge(good.slice(at, at + 60))
      assert.deepEqual(stdout.startsWith('{') ? JSON.parse(stdout) : stdout, JSON.parse(expected))
    }
    const bad = cases.filter((each) => !isGood(each))
    // One start of the program each, so only some of them.
    for (const [index, each] of bad.entries()) {
      if (index % (isChaos ? 10 : 30) !== 0) continue
      const { stdout, problems } = judge([each])
      assert.match(stdout, /^refused: parameters\.p0/, JSON.stringify(each))
      assert.equal(problems.length, 1)
    }
  })
}
