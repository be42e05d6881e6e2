// Parsing of requests from devices.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeviceError } from '../../../src/domain/execution/device-error.ts'
import {
  clientTokenOf,
  parseDescribe,
  parseEnroll,
  parseJobId,
  parseOutput,
  parsePayload,
  parseStartNext,
  parseUpdate,
} from '../../../src/domain/execution/device-request.ts'

const bytes = (text: string) => Buffer.from(text)
const codeOf = (work: () => unknown) => {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return error instanceof DeviceError ? error.code : error
  }
}

test('a payload is a JSON object, or nothing', () => {
  assert.deepEqual(parsePayload(bytes('')), {})
  assert.deepEqual(parsePayload(bytes('{"a":1}')), { a: 1 })
  for (const text of ['{', 'x'])
    assert.equal(
      codeOf(() => parsePayload(bytes(text))),
      'InvalidJson',
    )
  assert.equal(
    codeOf(() => parsePayload(Buffer.from([0x22, 0xff, 0x22]))),
    'InvalidJson',
  )
  for (const text of ['[]', 'null', '1', '"a"']) {
    assert.equal(
      codeOf(() => parsePayload(bytes(text))),
      'InvalidRequest',
    )
  }
  assert.equal(
    codeOf(() => parsePayload(bytes(`{"a":${'['.repeat(600)}${']'.repeat(600)}}`))),
    'InvalidRequest',
  )
})

test('numbers and booleans may be strings, and null is like a missing field', () => {
  assert.deepEqual(parseDescribe({ executionNumber: '2', includeJobDocument: 'true' }, false), {
    attempt: 2,
    wantsDocument: true,
  })
  assert.deepEqual(parseDescribe({ executionNumber: null, includeJobDocument: null }, true), {
    attempt: undefined,
    wantsDocument: true,
  })
  for (const executionNumber of [0, -1, 1.5, '1.5', 'x', true, 2 ** 53, '99999999999999999']) {
    assert.equal(
      codeOf(() => parseDescribe({ executionNumber }, false)),
      'InvalidRequest',
      `${executionNumber}`,
    )
  }
  assert.equal(
    codeOf(() => parseDescribe({ includeJobDocument: 'yes' }, false)),
    'InvalidRequest',
  )
})

test('a step timeout is in minutes, up to a week, and -1 discards it', () => {
  const timeoutOf = (stepTimeoutInMinutes: unknown) => parseStartNext({ stepTimeoutInMinutes }).stepTimeout
  assert.equal(timeoutOf(undefined), undefined)
  assert.equal(timeoutOf(-1), 'discard')
  assert.equal(timeoutOf(1), 60_000)
  assert.equal(timeoutOf(10_080), 604_800_000)
  for (const minutes of [0, -2, 10_081])
    assert.equal(
      codeOf(() => timeoutOf(minutes)),
      'InvalidRequest',
    )
})

test('status details are at most 100 short texts without control characters', () => {
  const judge = (statusDetails: unknown) => codeOf(() => parseStartNext({ statusDetails }))
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'v']))
  for (const right of [undefined, null, {}, many(100), { 'a:b_c-d': 'ü'.repeat(1024) }]) {
    assert.equal(judge(right), 'accepted')
  }
  for (const wrong of [
    [],
    'x',
    many(101),
    { a: 1 },
    { a: '' },
    { a: 'x'.repeat(1025) },
    { a: '\n' },
    { 'a b': 'x' },
  ]) {
    assert.equal(judge(wrong), 'InvalidRequest', JSON.stringify(wrong).slice(0, 40))
  }
})

test('an update has a status that a device may report', () => {
  assert.equal(parseUpdate({ status: 'SUCCEEDED', result: { a: 1 } }).result, '{"a":1}')
  for (const status of ['PENDING', 'EXPIRED', 'succeeded', undefined, 1]) {
    assert.equal(
      codeOf(() => parseUpdate({ status })),
      'InvalidRequest',
    )
  }
  const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)
  for (const result of ['x'.repeat(64 * 1024), deep]) {
    assert.equal(
      codeOf(() => parseUpdate({ status: 'SUCCEEDED', result })),
      'InvalidRequest',
    )
  }
})

test('output has an offset and is text or base64', () => {
  assert.deepEqual(parseOutput({ offset: '3', data: 'ä' }).data, bytes('ä'))
  assert.deepEqual(parseOutput({ offset: 0, data: 'YQ==', encoding: 'base64' }).data, bytes('a'))
  for (const fields of [
    { data: 'a' },
    { offset: -1, data: 'a' },
    { offset: 0 },
    { offset: 0, data: 'a', encoding: 'x' },
  ]) {
    assert.equal(
      codeOf(() => parseOutput(fields)),
      'InvalidRequest',
    )
  }
})

test('a malformed job id is unknown, and is not repeated in the answer', () => {
  assert.equal(parseJobId('12'), 12)
  for (const jobId of ['0', '012', '-1', '1.0', '9007199254740993', 'jd_secret', '']) {
    assert.throws(
      () => parseJobId(jobId),
      (error) =>
        error instanceof DeviceError &&
        error.code === 'ResourceNotFound' &&
        !error.message.includes('secret'),
    )
  }
})

test('a client token and a claim have limits', () => {
  assert.equal(clientTokenOf({ clientToken: 'x'.repeat(256) })?.length, 256)
  assert.equal(
    codeOf(() => clientTokenOf({ clientToken: 'x'.repeat(257) })),
    'InvalidRequest',
  )
  assert.equal(
    codeOf(() => clientTokenOf({ clientToken: 1 })),
    'InvalidRequest',
  )
  assert.equal(parseEnroll({ claim: 'x'.repeat(16) }).claim?.length, 16)
  for (const claim of ['x'.repeat(15), 'x'.repeat(129), `${'x'.repeat(16)} `]) {
    assert.equal(
      codeOf(() => parseEnroll({ claim })),
      'InvalidRequest',
    )
  }
})
