// Runs a program that uses the Python client.

import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const module = fileURLToPath(new URL('../../python', import.meta.url))
const programs = fileURLToPath(new URL('../python/', import.meta.url))

const check = 'import sys; sys.exit(sys.version_info < (3, 9))'
/** For the `skip` of a test. */
export const noPython =
  spawnSync('python3', ['-c', check]).status === 0 ? false : 'there is no Python 3.9 or newer here'

type Given = {
  url: string
  apiKey: string
  /** Its first line of input. */
  facts: object
  /** Handles a request line of the program, which then continues. */
  act?: (asked: string) => Promise<void> | void
}

/** What it has printed last, and its errors. */
export async function runPython(
  t: TestContext,
  name: string,
  { url, apiKey, facts, act }: Given,
): Promise<{ last: string; errors: string }> {
  const env = { ...process.env, JOBCAST_URL: url, JOBCAST_API_KEY: apiKey, PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn('python3', ['-W', 'error', programs + name, module], { env })
  t.after(() => child.kill('SIGKILL'))
  child.stdin.on('error', () => {}) // it has ended
  child.stdin.write(`${JSON.stringify(facts)}\n`)
  const errors = text(child.stderr)
  let last = ''
  for await (const line of createInterface(child.stdout)) {
    last = line
    await act?.(line)
    child.stdin.write('\n')
  }
  return { last, errors: await errors }
}
