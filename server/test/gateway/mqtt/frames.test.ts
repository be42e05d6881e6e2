import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { testSeed } from '@jobcast/testkit/test-seed'
import { testSize } from '@jobcast/testkit/test-size'
import { type FrameRules, Frames } from '../../../src/gateway/mqtt/frames.ts'

const rounds = testSize('streams', { test: 100, chaos: 2000 })
const rules: FrameRules = { maxLength: 100_000, refusalOf: () => undefined }

function frameOf(length: number, filling: number): Buffer {
  const bytes = [0x30]
  let rest = length
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Buffer.concat([Buffer.from(bytes), Buffer.alloc(length, filling)])
}

test(`however a stream is cut into chunks, the same frames come out (seed ${testSeed})`, () => {
  const random = seededRandom(testSeed)
  for (let round = 0; round < rounds; round++) {
    const lengths = Array.from({ length: 10 }, () =>
      random.pick([0, 1, 127, 128, 300, 16_384, random.below(5000)]),
    )
    const sent = lengths.map((length, i) => frameOf(length, i))
    const stream = Buffer.concat(sent)
    const frames = new Frames()
    const cut: Buffer[] = []
    const cutAll = () => {
      for (let frame = frames.next(rules); frame; frame = frames.next(rules)) cut.push(frame)
    }
    const longest = random.pick([1, 3, 100, 5000, 70_000])
    for (let at = 0; at < stream.length; ) {
      const end = at + 1 + random.below(longest)
      const chunk = Buffer.from(stream.subarray(at, end))
      frames.push(chunk)
      at = end
      // Else as when no more is taken for a while.
      if (random.chance(0.7)) cutAll()
    }
    cutAll()
    assert.deepEqual(cut, sent)
  }
})

test('a frame is judged by its first bytes', () => {
  const frames = new Frames()
  frames.push(Buffer.from([0x30, 0xa1, 0x8d]))
  assert.equal(frames.next(rules), undefined)
  frames.push(Buffer.from([0x06]))
  assert.throws(() => frames.next(rules), { reason: 'too-large' })
})

test('a frame of the greatest length is taken', () => {
  const frames = new Frames()
  const frame = frameOf(rules.maxLength, 1)
  frames.push(frame)
  assert.deepEqual(frames.next(rules), frame)
})
