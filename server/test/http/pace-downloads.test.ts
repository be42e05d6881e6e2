// Many downloads at once leave the event loop to others after each chunk.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { paceDownload } from '../../src/http/connections/pace-downloads.ts'

const chunk = Buffer.alloc(64 * 1024)

/** Content that is always ready. */
function contentOf(chunks: number): Readable {
  let left = chunks
  return new Readable({
    read() {
      this.push(left-- > 0 ? chunk : null)
    },
  })
}

test('64 downloads hand on one chunk in each turn of the event loop, one after the other', async () => {
  const counts: number[] = new Array(64).fill(0)
  let ofTurn = 0
  let most = 0
  const ended = counts.map(async (_, index) => {
    for await (const piece of paceDownload(contentOf(20))) {
      ofTurn += piece.length
      counts[index] = (counts[index] ?? 0) + 1
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, String(counts))
    }
  })
  let isOver = false
  const watch = () => {
    most = Math.max(most, ofTurn)
    ofTurn = 0
    if (!isOver) setImmediate(watch)
  }
  watch()
  await Promise.all(ended)
  isOver = true
  assert.equal(most, chunk.length)
  assert.deepEqual(new Set(counts), new Set([20]))
})

test('small chunks share a turn, and one that is larger than a turn is handed on', async () => {
  const pieces = [...new Array(100).fill('a'), 'b'.repeat(200_000), 'c']
  const content = await paceDownload(Readable.from(pieces, { objectMode: false })).toArray()
  assert.equal(Buffer.concat(content).toString(), pieces.join(''))
})

test('a download that is abandoned closes its content, and content that fails ends its download', async () => {
  const [abandoned, failing] = [contentOf(1000), contentOf(1000)]
  const download = paceDownload(abandoned)
  download.once('data', () => download.destroy())
  await new Promise((resolve) => abandoned.once('close', resolve))
  const failed = paceDownload(failing)
  failed.once('data', () => failing.destroy(new Error('the disk is broken')))
  await assert.rejects(failed.toArray(), /the disk is broken/)
})
