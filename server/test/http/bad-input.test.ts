// What the trigger answers to content, names, keys, methods and paths it cannot take.
// Every row is sent to one server, which must be as it was afterwards.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ErrorCode } from '@jobcast/contract'
import { sendRaw } from '@jobcast/testkit/raw-http'
import { type RequestParts, rawRequest } from '@jobcast/testkit/raw-request'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { assertRefused } from './assert-reply.ts'

const maxDevices = 3
const api = await openSharedServer({ maxDevices })
await api.putJobAndDevices('update', ['d1', 'd2', 'd3'])

const valid = '{"jobName":"update","deviceIds":["d1"]}'
type Row = { title: string; request: RequestParts; code: ErrorCode; allow?: string }

const bodies = (rows: Record<string, string | Buffer>): Row[] =>
  Object.entries(rows).map(([title, body]) => ({ title, request: { body }, code: 'J-500' }))
const named = (jobName: unknown, deviceIds: unknown = ['d1']) => JSON.stringify({ jobName, deviceIds })
/** `text` stands in the JSON as it is. */
const spelled = (text: string) => `{"jobName":"${text}","deviceIds":["d1"]}`
const withBytes = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"jobName":"a'), Buffer.from(bytes), Buffer.from('b","deviceIds":["d1"]}')])
const nested = (levels: number) => `{"x":${'['.repeat(levels)}${']'.repeat(levels)},${valid.slice(1)}`

const notJson = bodies({
  'an empty body': '',
  'blanks only': '  \r\n',
  'malformed JSON': '{"jobName":',
  'garbage after the JSON': `${valid}x`,
  'two values': valid + valid,
  NaN: '{"jobName":NaN,"deviceIds":["d1"]}',
  'a comma too many': '{"jobName":"update","deviceIds":["d1",]}',
  'single quotes': valid.replaceAll('"', "'"),
  'a comment': `${valid}// now`,
  'an array': `[${valid}]`,
  null: 'null',
  'a string': JSON.stringify(valid),
  'a number': '7',
  true: 'true',
})

const wrongTypes = bodies({
  'jobName null': named(null),
  'jobName a number': named(1),
  'jobName an object': named({ name: 'update' }),
  'jobName an array': named(['update']),
  'jobName true': named(true),
  'jobName empty': named(''),
  'jobName of blanks': named('   '),
  'jobName of blanks beyond ASCII': named('\u00a0\u2003'),
  'deviceIds null': named('update', null),
  'deviceIds a string': named('update', 'd1'),
  'deviceIds an object': named('update', { 0: 'd1', length: 1 }),
  'deviceIds empty': named('update', []),
  'a device that is null': named('update', ['d1', null]),
  'a device that is a number': named('update', ['d1', 2]),
  'a device that is an array': named('update', [['d1']]),
  'an empty device': named('update', ['d1', '']),
  'a device of blanks': named('update', [' ']),
})

const traps = bodies({
  __proto__: `{"__proto__":{"a":1},${valid.slice(1)}`,
  '__proto__ with an escape': `{"\\u005f_proto__":{"a":1},${valid.slice(1)}`,
  '__proto__ deep inside': `{"x":[{"__proto__":1}],${valid.slice(1)}`,
  'constructor.prototype': `{"constructor":{"prototype":{}},${valid.slice(1)}`,
  '33 levels of nesting': nested(32),
  '100,000 levels of nesting': nested(100_000),
  'a jobName of 129 characters': named('a'.repeat(129)),
  'a jobName of 129 characters of four bytes': named('🚪'.repeat(129)),
  'a deviceId of 129 characters': named('update', ['a'.repeat(129)]),
  'more devices than the limit': named('update', ['d1', 'd2', 'd3', 'd4']),
  'the same device more often than the limit': named('update', Array(maxDevices + 1).fill('d1')),
})

const badText = bodies({
  NUL: spelled('a\\u0000b'),
  'a control character': spelled('a\\u0007'),
  'a tab': spelled('a\\tb'),
  'a line break at the end': spelled('update\\n'),
  DEL: spelled('a\\u007f'),
  'a control character beyond ASCII': spelled('a\\u0085'),
  'a control character as it is': withBytes(0x01),
  'a lone high surrogate': spelled('a\\ud800'),
  'a lone low surrogate': spelled('\\udc00a'),
  'a surrogate pair the wrong way round': spelled('\\udc00\\ud800'),
  'a lone surrogate in a device': named('update', ['d\ud800']),
  'NUL in a device': named('update', ['d\u0000']),
  'a byte that is not UTF-8': withBytes(0xff),
  'an overlong NUL': withBytes(0xc0, 0x80),
  'a surrogate as bytes': withBytes(0xed, 0xa0, 0x80),
  'half a character': withBytes(0xe2, 0x82),
  'UTF-16': Buffer.from(valid, 'utf16le'),
  'UTF-16 with its mark': Buffer.from(`\ufeff${valid}`, 'utf16le'),
  'two byte order marks': `\ufeff\ufeff${valid}`,
  'a byte order mark at the end': `${valid}\ufeff`,
})

const contentTypes: Row[] = [
  ['no content type', 'Content-Type'],
  ['an empty content type', 'Content-Type: '],
  ['a content type without a slash', 'Content-Type: json'],
  ['text/plain', 'Content-Type: text/plain'],
  ['a form', 'Content-Type: application/x-www-form-urlencoded'],
  ['multipart', 'Content-Type: multipart/form-data; boundary=x'],
  ['text/json', 'Content-Type: text/json'],
  ['application/json-seq', 'Content-Type: application/json-seq'],
  ['a +json type', 'Content-Type: application/vnd.api+json'],
  ['charset latin1', 'Content-Type: application/json; charset=iso-8859-1'],
  ['charset utf-16', 'Content-Type: application/json; charset=utf-16'],
  ['two charsets', 'Content-Type: application/json; charset=utf-8; charset=utf-16'],
  ['two types in one', 'Content-Type: application/json, text/plain'],
  ['Content-Encoding gzip', 'Content-Encoding: gzip'],
  ['Content-Encoding identity', 'Content-Encoding: identity'],
].map(([title = '', header = '']) => ({ title, request: { headers: [header], body: valid }, code: 'J-500' }))
contentTypes.push(
  {
    title: 'a body that is gzip',
    request: { headers: ['Content-Encoding: gzip'], body: gzipSync(valid) },
    code: 'J-500',
  },
  {
    title: 'two content types',
    request: { headers: ['Content-Type: application/json', 'Content-Type: text/plain'], body: valid },
    code: 'J-500',
  },
)

const odd = ["' OR 1=1 --", '../../etc/passwd', '%', '_', '*', '$(id)', '{{7*7}}', 'update\u200b']
const oddNames: Row[] = odd.flatMap((name) => [
  { title: `the job ${name}`, request: { body: named(name) }, code: 'J-301' },
  { title: `the device ${name}`, request: { body: named('update', [name]) }, code: 'J-001' },
])

for (const { title, request, code } of [
  ...notJson,
  ...wrongTypes,
  ...traps,
  ...badText,
  ...contentTypes,
  ...oddNames,
]) {
  test(`answers ${code} to ${title}`, async () => {
    assertRefused(await sendRaw(api.http, rawRequest(api.adminKey, request)), code)
  })
  test(`answers J-802 to ${title} without a key`, async () => {
    const headers = ['X-API-Key', ...(request.headers ?? [])]
    assertRefused(await sendRaw(api.http, rawRequest('', { ...request, headers })), 'J-802')
  })
}

test('has created nothing, counts no internal error, and still responds', async () => {
  assert.deepEqual((await api.call('GET', '/job/api/executions')).json.items, [])
  const metrics = await api.call('GET', '/metrics')
  assert.match(metrics.text, /^jobcast_http_failures_total 0$/m)
  assert.equal((await api.trigger('update', ['d1', 'd2', 'd3'])).status, 201)
})
