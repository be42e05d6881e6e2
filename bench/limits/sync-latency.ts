// Limit: how long the disk takes to sync 4 KiB.

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { percentile } from '../numbers.ts'
import { removeFolder, temporaryFolder } from '../processes.ts'

const page = Buffer.alloc(4096, 1)
const pages = 1000

export function measureSync(times = 500): { p50: number; p99: number } {
  const folder = temporaryFolder()
  const file = openSync(join(folder, 'file'), 'w')
  // Overwrite in place, like a write-ahead log after a reset, so that the size does not change.
  writeSync(file, Buffer.alloc(pages * page.length))
  fdatasyncSync(file)
  const taken = Array.from({ length: times }, (_, index) => {
    const begun = performance.now()
    writeSync(file, page, 0, page.length, (index % pages) * page.length)
    fdatasyncSync(file)
    return performance.now() - begun
  }).sort((a, b) => a - b)
  closeSync(file)
  removeFolder(folder)
  return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) }
}
