import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isNestedTooDeep, maxJsonDepth } from '../../../src/domain/common/json-depth.ts'

const nested = (levels: number, open = '[', close = ']') =>
  Buffer.from(open.repeat(levels) + close.repeat(levels))

test(`${maxJsonDepth} levels are let through, one more is not`, () => {
  assert.equal(isNestedTooDeep(nested(maxJsonDepth)), false)
  assert.equal(isNestedTooDeep(nested(maxJsonDepth + 1)), true)
  assert.equal(isNestedTooDeep(nested(maxJsonDepth + 1, '{"a":', '}')), true)
})

test('brackets side by side and brackets in strings are no levels', () => {
  assert.equal(isNestedTooDeep(Buffer.from(`[${'[],'.repeat(1000)}[]]`)), false)
  assert.equal(isNestedTooDeep(Buffer.from(JSON.stringify(['\\"[{'.repeat(1000)]))), false)
})

test('it judges as a walk over the parsed value would', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 6 }), (value, limit) => {
      const bytes = Buffer.from(JSON.stringify(value))
      assert.equal(isNestedTooDeep(bytes, limit), depthOf(value) > limit)
    }),
  )
})
