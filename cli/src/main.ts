// jobcast: runs the command line on this process.

import type { Writable } from 'node:stream'
import { run } from './run.ts'

const { stdin, stdout, stderr, env } = process
const code = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signals: process })
await Promise.all([stdout, stderr].map(flush))
// Not by itself: connections that are kept for a next call would hold the process for seconds.
process.exit(code)

/** Resolves when all that was written has left the process. */
function flush(stream: Writable): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()))
}
