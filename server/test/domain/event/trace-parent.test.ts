import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSampled, parseTraceParent, traceParentText } from '../../../src/domain/event/trace-parent.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

test('a traceparent is read and written the same', () => {
  const text = `00-${traceId}-${spanId}-01`
  const parsed = parseTraceParent(text)
  assert.deepEqual(parsed, { traceId, spanId, flags: '01' })
  assert.equal(parsed && traceParentText(parsed), text)
})

test('only the lowest bit of its flags says that it is sampled', () => {
  const sampled = ['00', '01', '02', 'ff'].map((flags) => isSampled({ traceId, spanId, flags }))
  assert.deepEqual(sampled, [false, true, false, true])
})

for (const text of [
  undefined,
  '',
  `01-${traceId}-${spanId}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
]) {
  test(`ignores ${text}`, () => assert.equal(parseTraceParent(text), undefined))
}
