import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'
import { encodePiece, pieceBytes } from '../src/output/encode-output.ts'

const packetBytes = 128 * 1024

function decode({ data, encoding }: { data: string; encoding?: 'base64' }): Buffer {
  return Buffer.from(data, encoding ?? 'utf8')
}

test('text is sent as text, anything else as base64', () => {
  assert.deepEqual(encodePiece(Buffer.from('hällo\n')), { data: 'hällo\n', bytes: 7 })
  assert.deepEqual(encodePiece(Buffer.from([0xff, 0xfe])), { data: '//4=', encoding: 'base64', bytes: 2 })
})

test('an incomplete character waits, unless there is nothing else', () => {
  const bytes = Buffer.from('a€')
  assert.deepEqual(encodePiece(bytes.subarray(0, 3)), { data: 'a', bytes: 1 })
  assert.deepEqual(encodePiece(bytes.subarray(1, 3)), { data: '4oI=', encoding: 'base64', bytes: 2 })
})

test('for any bytes, the pieces add up to the input, and each fits in a packet', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    fc.string({ unit: 'binary', maxLength: 100 }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 40 }), (whole, size) => {
      const pieces: Buffer[] = []
      for (let at = 0; at < whole.length; ) {
        const piece = encodePiece(whole.subarray(at, at + size))
        assert.ok(piece.bytes > 0)
        assert.equal(decode(piece).length, piece.bytes)
        pieces.push(decode(piece))
        at += piece.bytes
      }
      assert.deepEqual(Buffer.concat(pieces), whole)
    }),
    randomInputs({ test: 50, chaos: 2000 }),
  )
  for (const worst of ['\0', '\x1b', '"', '€', '\u{1f600}', 'a']) {
    const piece = encodePiece(Buffer.from(worst.repeat(pieceBytes)).subarray(0, pieceBytes))
    assert.ok(Buffer.byteLength(JSON.stringify(piece)) < packetBytes - 1024, JSON.stringify(worst))
  }
})
