import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonType } from '../../src/http/wire/json-type.ts'

const cases: [string, boolean][] = [
  ['application/json', true],
  ['Application/JSON; charset=UTF-8', true],
  ['application/json ; charset = "utf-8" ;', true],
  ['application/json;', true],
  ['application/json; charset=latin1', false],
  ['application/json; charset=utf-8; charset=utf-8', false],
  ['application/json; charset=utf-8=', false],
  ['application/json; x=1', false],
  ['application/jsonp', false],
  ['text/json', false],
  ['', false],
]
for (const [type, expected] of cases) {
  test(`"${type}" is ${expected ? '' : 'not '}taken for JSON`, () => assert.equal(isJsonType(type), expected))
}
