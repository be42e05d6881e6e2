// The paths of --output jsonpath=….

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonPathError, parseJsonPath } from '../src/output/json-path.ts'

const document = {
  runId: 7,
  note: null,
  'a.b': { "it's": 1, 'say "x"': 2 },
  executions: [
    { deviceId: 'kiosk-1', counts: { ok: 1, bad: 2 } },
    { deviceId: 'kiosk-2', counts: { ok: 3, bad: 4 } },
  ],
}

const cases: [path: string, matches: unknown[]][] = [
  ['{.runId}', [7]],
  ['.runId', [7]],
  ['$.runId', [7]],
  ['{$.note}', [null]],
  ['{.executions[0].deviceId}', ['kiosk-1']],
  ['{.executions[-1].deviceId}', ['kiosk-2']],
  ['{.executions[*].deviceId}', ['kiosk-1', 'kiosk-2']],
  ['{.executions[*].counts.*}', [1, 2, 3, 4]],
  [`{['a.b']["it's"]}`, [1]],
  [`{["a.b"]['say "x"']}`, [2]],
  ['{.executions[2]}', []],
  ['{.executions[-3]}', []],
  ['{.executions.length}', []],
  ['{.runId.toString}', []],
  ['{.nothing.at.all}', []],
  ['{.constructor}', []],
  ['{.__proto__}', []],
  ['{}', [document]],
  ['{.}', [document]],
  ['$', [document]],
]

test('a path matches names, indexes and wildcards, and nothing that is inherited', () => {
  for (const [path, matches] of cases) assert.deepEqual(parseJsonPath(path)(document), matches, path)
})

test('a path that is not understood is refused with the place', () => {
  for (const path of [
    'runId',
    '..runId',
    '.a[',
    '.a[x]',
    '.a[?(@.b)]',
    ".a['b]",
    '{.a} {.b}',
    '.a b',
    '[1:2]',
    '{.a',
  ])
    assert.throws(() => parseJsonPath(path), JsonPathError, path)
  assert.throws(() => parseJsonPath('.executions..deviceId'), /It is not clear at "\.\.deviceId"/)
  assert.throws(() => parseJsonPath('.a'.repeat(501)), /at most 1000 characters/)
})
