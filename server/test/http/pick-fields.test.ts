// Two fields of a large body: results, refusals, and steps, always equal to JSON.parse.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { isNestedTooDeep } from '../../src/domain/common/json-depth.ts'
import { NestedTooDeep, NotJson, pickFields, TooLarge } from '../../src/http/wire/pick-fields.ts'

const wanted = { text: 'jobName', list: 'deviceIds', maxItems: 5, otherBytes: 1e9, bytesPerItem: 520 }
const release = async () => undefined
const pick = (text: string | Buffer, more: object = {}) =>
  pickFields(Buffer.from(text), { ...wanted, ...more }, release)

const accepted: [string, string, unknown][] = [
  ['both fields', '{"jobName":"j","deviceIds":["a","b"]}', { jobName: 'j', deviceIds: ['a', 'b'] }],
  ['neither', '{}', {}],
  [
    'blanks everywhere',
    ' { "jobName" :\t"j" ,\r\n"deviceIds" : [ "a" , "b" ] } ',
    { jobName: 'j', deviceIds: ['a', 'b'] },
  ],
  ['a byte order mark', '\ufeff{"jobName":"j"}', { jobName: 'j' }],
  ['an empty list', '{"deviceIds":[]}', { deviceIds: [] }],
  [
    'escapes, also in the name of a field',
    '{"job\\u004eame":"\\u00e9\\"\\n\\ud83d\\ude00"}',
    { jobName: 'é"\n😀' },
  ],
  [
    'of a name that comes twice the last',
    '{"jobName":"a","deviceIds":["x"],"jobName":"b","deviceIds":["y"]}',
    { jobName: 'b', deviceIds: ['y'] },
  ],
  [
    'nothing of other fields',
    '{"x":{"jobName":"no","deviceIds":["no"]},"jobName":"j","y":[["deviceIds"],{"a":-1.5e+3}],"z":true,"n":null,"f":false}',
    { jobName: 'j' },
  ],
  ['values of another type as such', '{"jobName":["x"],"deviceIds":{"a":1}}', { jobName: [], deviceIds: {} }],
  [
    'a list no further than to what is no text',
    '{"deviceIds":["a",1,"b"]} what follows',
    { deviceIds: ['a', 0] },
  ],
  [
    'a list no further than to one too many',
    '{"deviceIds":["1","2","3","4","5","6","7"',
    { deviceIds: ['1', '2', '3', '4', '5', '6'] },
  ],
  ['a text instead of an object', '"text"', 'text'],
  ['numbers of all kinds', '{"x":[0,-0,10,0.5,1e9,1E-9,-1.25e+2]}', {}],
  ['a constructor without a prototype', '{"constructor":{"x":1},"prototype":{}}', {}],
]
for (const [what, text, expected] of accepted) {
  test(`gives ${what}`, async () => assert.deepEqual(await pick(text), expected))
}

const refused = [
  '',
  ' ',
  '{',
  '}',
  '[',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,}',
  '[1,]',
  '[,1]',
  '{"a":1}x',
  '{}{}',
  '{"a" 1}',
  '{a:1}',
  "{'a':1}",
  '{"a":01}',
  '{"a":-}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":1e}',
  '{"a":+1}',
  '{"a":NaN}',
  '{"a":tru}',
  '{"a":nulll}',
  '{"a":"x}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":"\n"}',
  '{"a":"\u0001"}',
  '\ufeff\ufeff{}',
  '{"a":[1}',
  '{"a":{"b":1]}',
  '{"__proto__":{}}',
  '{"x":[{"\\u005f_proto__":1}]}',
  '{"constructor":{"prototype":1}}',
  '{"x":{"constructor":{"a":1,"prototype":{}}}}',
  '{"a":1 "b":2}',
]
test('refuses what is not JSON', async () => {
  for (const text of refused) await assert.rejects(pick(text), NotJson, JSON.stringify(text))
  await assert.rejects(pick(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), NotJson)
})

test('refuses what is nested deeper than bodies may be, and nothing else', async () => {
  const nested = (depth: number) => `{"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.deepEqual(await pick(nested(32)), {})
  await assert.rejects(pick(nested(33)), NestedTooDeep)
})

test('whatever the bytes are, they are accepted if and only if JSON.parse accepts them', async () => {
  const random = seededRandom(testSeed)
  const parts = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"jobName"',
    '"deviceIds"',
    '"a"',
    '1',
    '-0.5e1',
    'true',
    'null',
    ' ',
    '\\',
    '"',
    'é',
  ]
  const whole = [
    '{"jobName":"j","deviceIds":["a","b"]}',
    '{"a":[1,{"b":"c"}],"jobName":"x"}',
    '{"deviceIds":[],"x":-1e5}',
  ]
  let valid = 0
  for (let round = 0; round < 20_000; round++) {
    let text = random.pick(whole)
    for (let changes = random.below(3); changes > 0; changes--) {
      const at = random.below(text.length)
      text = text.slice(0, at) + random.pick(parts) + text.slice(at + random.below(3))
    }
    const parsed = parseOr(text)
    const picked = await pick(text, { maxItems: 1000 }).catch((error: unknown) => {
      if (error instanceof NotJson) return 'refused'
      throw error
    })
    const list = (parsed as { deviceIds?: unknown } | null)?.deviceIds
    // What has an item that is no text is not read to its end.
    if (Array.isArray(list) && list.some((item) => typeof item !== 'string')) continue
    if (parsed === 'refused' && typeof picked === 'object' && isCutShort(picked)) continue
    assert.equal(picked === 'refused', parsed === 'refused', text)
    if (parsed === 'refused') continue
    valid++
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) continue
    const [one, other] = [parsed, picked] as [Record<string, unknown>, Record<string, unknown>]
    for (const name of ['jobName', 'deviceIds']) {
      const isGiven = typeof one[name] === 'string' || (name === 'deviceIds' && Array.isArray(one[name]))
      if (isGiven) {
        assert.deepEqual(other[name], one[name], text)
      } else assert.equal(typeof other[name], typeof one[name], text)
    }
  }
  assert.ok(valid > 2000, `only ${valid} were valid`)
})

function isCutShort(picked: object | null): boolean {
  const { deviceIds } = (picked ?? {}) as { deviceIds?: unknown }
  return Array.isArray(deviceIds) && typeof deviceIds.at(-1) !== 'string' && deviceIds.length > 0
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'refused'
  }
}

const large = 1024 * 1024
const many = (unit: string) =>
  Array(Math.floor(large / (unit.length + 1)))
    .fill(unit)
    .join(',')
const largeBodies: Record<string, string> = {
  'one text': `{"x":"${'é'.repeat(large / 2)}","jobName":"j"}`,
  'one name': `{"${'n'.repeat(large)}":1,"jobName":"j"}`,
  'one number': `{"x":${'1'.repeat(large)},"jobName":"j"}`,
  blanks: `{${' '.repeat(large)}"jobName":"j"}`,
  escapes: `{"x":"${'\\u00e9'.repeat(large / 6)}","jobName":"j"}`,
  objects: `{"x":[${many('{}')}],"jobName":"j"}`,
  numbers: `{"x":[${many('0.5')}],"jobName":"j"}`,
}
for (const [what, text] of Object.entries(largeBodies)) {
  test(`reads ${what} of a megabyte in many steps`, async () => {
    let steps = 0
    const picked = await pickFields(Buffer.from(text), wanted, async () => {
      steps++
    })
    assert.deepEqual(picked, { jobName: 'j' })
    assert.ok(steps >= 15 && !isNestedTooDeep(Buffer.from(text)), `${steps} steps`)
  })
}

test('a name that is far too long is given as one that is too long', async () => {
  const { jobName } = (await pick(`{"jobName":"${'n'.repeat(large)}"}`)) as { jobName: string }
  assert.equal(jobName.length, 1000)
})

test('what is not the list has a size of its own, whatever the list may have', async () => {
  const limits = { maxItems: 1e6, otherBytes: 100_000, bytesPerItem: 20 }
  await assert.rejects(pick(`{"jobName":"j","x":[${many('1')}]}`, limits), TooLarge)
  const list = (count: number, id: string) =>
    `{"deviceIds":[${Array(count).fill(JSON.stringify(id)).join(',')}]}`
  const { deviceIds } = (await pick(list(20_000, 'd234567890123456'), limits)) as { deviceIds: string[] }
  assert.equal(deviceIds.length, 20_000)
  await assert.rejects(pick(list(20_000, 'x'.repeat(60)), limits), TooLarge)
})
