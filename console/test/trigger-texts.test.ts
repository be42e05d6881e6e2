import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callTexts } from '../src/screens/trigger/call-texts.ts'
import { parsePasted, sortPasted } from '../src/screens/trigger/parse-pasted.ts'
import { readFilter } from '../src/selector/selector-text.ts'

const url = 'http://127.0.0.1:8080'
const many = {
  url,
  tag: undefined,
  jobName: 'restart',
  deviceIds: Array.from({ length: 30 }, (_, index) => `d${index}`),
}

test('the first of many devices are shown, and all are copied', () => {
  for (const kind of ['curl', 'CLI', 'TypeScript'] as const) {
    const { shown, whole } = callTexts[kind](many)
    assert.match(shown, /… 22 more, all copied/)
    assert.doesNotMatch(shown, /d29/)
    assert.match(whole, /d29/)
    assert.doesNotMatch(whole, /…/)
  }
})

test('pasted devices are separated by lines, commas or columns of a table, without duplicates', () => {
  assert.deepEqual(parsePasted('a, b\n c\r\n\n# none\nd # by the door\n"e";a\tf'), [
    'a',
    'b',
    'c',
    'd',
    'e',
    'f',
  ])
  assert.deepEqual(
    sortPasted('a,x,b', (name) => name !== 'x'),
    { known: ['a', 'b'], unknown: ['x'] },
  )
  assert.deepEqual(
    sortPasted('', () => true),
    { known: [], unknown: [] },
  )
})

test('text to find devices is a selector, or the beginning of a name', () => {
  assert.deepEqual(readFilter(' tag=kiosk '), { kind: 'where', where: 'tag=kiosk' })
  assert.deepEqual(readFilter('hall "1'), {
    kind: 'wrong',
    position: 6,
    message: 'the closing double quote is missing',
  })
  const begins = readFilter('Kiosk in the hall')
  assert.equal(begins.kind === 'wrong', true) // `in` is a word of the language
  assert.deepEqual(readFilter('the hall'), {
    kind: 'where',
    where: 'deviceId~"the hall*" or deviceName~"the hall*" or tag~"the hall*"',
  })
  assert.deepEqual(readFilter('  '), { kind: 'none' })
})

test('a call with a selector contains it, with any content', () => {
  const call = { ...many, where: `site="Lima's" and not online` }
  assert.match(callTexts.CLI(call).whole, /--where='site="Lima'\\''s" and not online' -- restart$/)
  assert.match(callTexts.curl(call).whole, /"targets":\{"where":"site=\\"Lima/)
  assert.match(callTexts.TypeScript(call).whole, /targets: \{ where: "site=\\"Lima's\\" and not online" \}/)
})

test('a call with a rollout contains all of it, also with more devices than fit in a line', () => {
  const release = { rollout: { waves: [{ size: 5 }, { size: '100%' }] }, approval: true }
  const asked = '"rollout":{"waves":[{"size":5},{"size":"100%"}]},"approval":true}'
  for (const kind of ['curl', 'CLI'] as const) {
    const bySelector = callTexts[kind]({ ...many, where: 'tag=kiosk', release }).whole
    assert.ok(
      bySelector.includes(`'{"jobName":"restart","targets":{"where":"tag=kiosk"},${asked}'`),
      bySelector,
    )
    const { whole, shown } = callTexts[kind]({ ...many, release })
    const [, body = ''] = /<<'DEVICES'\n(.*)\nDEVICES$/s.exec(whole) ?? []
    const { jobName, deviceIds } = many
    assert.deepEqual(JSON.parse(body), { jobName, targets: { deviceIds }, ...release })
    assert.match(shown, /… 22 more, all copied/)
  }
  const { whole } = callTexts.TypeScript({ ...many, where: 'tag=kiosk', release })
  assert.match(whole, /rollout: \{"waves":\[\{"size":5\},\{"size":"100%"\}\]\},\n {2}approval: true,/)
})
