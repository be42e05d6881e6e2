// jobcast: runs the command line on this process.

import type { Writable } from 'node:stream'
import { run } from './run.ts'

const { stdin, stdout, stderr, env } = process
const code = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signals: process })
await Promise.all([stdout, stderr].map(flush))
// Idle keep-alive connections would hold the process for seconds.
process.exit(code)

/** Resolves when all output has left the process, or cannot: a full disk does not change the exit code. */
function flush(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => resolve())
    stream.write('', () => resolve())
  })
}
