// The mask of secrets, compared with a naive one that checks every position of the text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nothingHeld, SecretMask } from '../../../src/domain/secret/secret-mask.ts'

const mask = '********'

function maskInPieces(masker: SecretMask, text: Buffer, cuts: number[]): string {
  let held = nothingHeld
  let from = 0
  const out: Uint8Array[] = []
  for (const to of [...cuts, text.length]) {
    const piece = masker.maskPiece(held, text.subarray(from, to))
    out.push(piece.masked)
    held = piece.held
    from = to
  }
  out.push(masker.maskEnd(held))
  return Buffer.concat(out).toString()
}

/** Marks each letter that is in a value; each stretch of overlapping values becomes one mask. */
function maskNaively(values: string[], text: string): string {
  const found: { start: number; end: number }[] = []
  for (let start = 0; start < text.length; start++) {
    for (const value of values)
      if (text.startsWith(value, start)) found.push({ start, end: start + value.length })
  }
  found.sort((one, other) => one.start - other.start)
  let out = ''
  let written = 0
  for (let at = 0; at < found.length; ) {
    const { start } = found[at] as { start: number }
    let end = start
    for (let next = found[at]; next && (next.start < end || next.start === start); next = found[++at])
      end = Math.max(end, next.end)
    out += text.slice(written, start) + mask
    written = end
  }
  return out + text.slice(written)
}

test('finds every value, however the text is cut into pieces', () => {
  // Few letters, so that values overlap, begin alike, and contain each other.
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  const word = (length: number) => Array.from({ length }, () => 'ab'[random(2)]).join('')
  for (let round = 0; round < 1000; round++) {
    const values = Array.from({ length: 1 + random(3) }, () => word(6 + random(4)))
    const text = word(random(80))
    const masker = new SecretMask(values)
    const expected = maskNaively(values, text)
    assert.equal(masker.maskText(text), expected, `${values} in ${text}`)
    const cuts = Array.from({ length: random(6) }, () => random(text.length + 1)).sort((a, b) => a - b)
    assert.equal(maskInPieces(masker, Buffer.from(text), cuts), expected, `${values} in ${text} at ${cuts}`)
  }
})

test('a letter of several bytes may be cut, and text that only begins like a value is kept', () => {
  const masker = new SecretMask(['schlüssel'])
  const text = Buffer.from('x schlüssel, schlüss')
  for (let cut = 0; cut <= text.length; cut++) {
    assert.equal(maskInPieces(masker, text, [cut]), `x ${mask}, schlüss`)
  }
})

test('a value is found as JSON writes it, too', () => {
  const masker = new SecretMask(['say "no"\n'])
  assert.equal(masker.maskText(JSON.stringify({ text: 'say "no"\n' })), `{"text":"${mask}"}`)
})

test('values with fewer than 6 characters are left alone', () => {
  assert.ok(new SecretMask(['12345', '🔑🔑🔑🔑🔑', '']).isEmpty)
  assert.equal(new SecretMask(['🔑🔑🔑🔑🔑🔑']).maskText('a 🔑🔑🔑🔑🔑🔑'), `a ${mask}`)
})
