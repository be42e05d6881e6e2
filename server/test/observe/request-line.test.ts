import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceEvent } from '../../src/observe/events.ts'
import { requestFields, requestLine } from '../../src/observe/request-line.ts'

const plain = {
  kind: 'request-answered',
  requestId: 'm1-2',
  method: 'POST',
  route: '/job/api/jobs/execute',
  status: 201,
  ms: 1.23456,
  keyId: 'Ab3',
  ownerId: 'ow1',
  runId: 7,
  triedKeyId: undefined,
  code: undefined,
  address: '192.0.2.7',
  userAgent: 'curl/8',
} satisfies ServiceEvent

const events: ServiceEvent[] = [
  plain,
  { ...plain, keyId: undefined, triedKeyId: 'Zz9', code: 'J-802', status: 403 },
  { ...plain, userAgent: undefined, address: '2001:db8::7' },
  { ...plain, userAgent: '"\\\u0007\u202e\u2028\ud83d\ude00', requestId: 'a"b\u0085' },
  { ...plain, userAgent: '\ud800' },
]

test('the line of a request is one line of JSON with the fields of the request, whatever a stranger sent', () => {
  for (const event of events) {
    if (event.kind !== 'request-answered') continue
    const line = requestLine('info', 17, event)
    assert.doesNotMatch(line.slice(0, -1), /[\n\u007f-\u009f\u2028\u202e]/)
    assert.ok(line.endsWith('\n'))
    const fields = { level: 'info', time: 17, ...requestFields(event), msg: 'request' }
    assert.deepEqual(JSON.parse(line), JSON.parse(JSON.stringify(fields)))
  }
})
