import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Progress, ProgressLines, parseProgress } from '../src/output/progress-lines.ts'

test('progress is a number up to 100, and may have a text', () => {
  const cases: [string, Progress | undefined][] = [
    ['::progress 40', { progress: '40' }],
    ['::progress 40 copying files ', { progress: '40', message: 'copying files' }],
    ['::progress  99.5% nearly\r', { progress: '99.5', message: 'nearly' }],
    ['::progress 007', { progress: '7' }],
    ['::progress 0', { progress: '0' }],
    ['::progress 101', undefined],
    ['::progress -1', undefined],
    ['::progress many', undefined],
    ['::progress', undefined],
    ['::progress 40files', undefined],
    [' ::progress 40', undefined],
  ]
  for (const [line, expected] of cases) assert.deepEqual(parseProgress(line), expected, line)
})

test('lines are found however the output is split, and long lines are cheap', () => {
  const output = Buffer.concat([
    Buffer.from('hello\n::progress 1\n\n::progress 2 zwölf\n'),
    Buffer.alloc(100_000, 'x'),
    Buffer.from(`\n::progress 3 ${'y'.repeat(5000)}\nno ::progress 4\n::progress 5`),
  ])
  for (const size of [1, 7, 4096, output.length]) {
    const found: Progress[] = []
    const lines = new ProgressLines((progress) => found.push(progress))
    for (let at = 0; at < output.length; at += size) lines.push(output.subarray(at, at + size))
    lines.end()
    assert.deepEqual(
      found.map(({ progress }) => progress),
      ['1', '2', '3', '5'],
    )
    assert.equal(found[1]?.message, 'zwölf')
  }
})
