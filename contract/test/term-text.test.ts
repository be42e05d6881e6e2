import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSelector, termText } from '../src/selector/index.ts'

test('the text of a term is read as the value that it was made of', () => {
  for (const value of ['2.4.1', 'São Paulo', 'and', 'a"b\\c', '', 'x,y', '(', '50%', 5, -1.5, true]) {
    const expected = { kind: 'compare', name: 'site', op: '=', value: String(value) }
    assert.deepEqual(parseSelector(termText('site', value)), expected)
  }
  assert.equal(termText('reported.fw', 'v2.4'), 'reported.fw=v2.4')
  assert.equal(termText('tag', 'old ones'), 'tag="old ones"')
})
