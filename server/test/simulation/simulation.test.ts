// Some hundred simulations, in a process whose time is simulated. "npm run simulate" does thousands.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'

const program = join(import.meta.dirname, 'run.ts')
const seeds = testSize('seeds', { test: 300, chaos: 5000 })
/** In `npm test` as many of them as a slow machine does in this time. */
const cpuSeconds = testSize('cpuSeconds', { test: 2, chaos: 240 })

function simulate(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
  })
}

test(`simulations of the core find no fault (seed ${testSeed})`, longTest, async (t) => {
  const limits = ['--seeds', String(seeds), '--cpu-seconds', String(cpuSeconds)]
  const { code, output } = await simulate('--processes', '1', '--seed', String(testSeed), ...limits)
  assert.equal(code, 0, output)
  t.diagnostic(output.trim())
})

const defects: [string, RegExp][] = [
  ['without-rechecks', /is idle at/],
  // Something is there that was refused: seen by the caller, or first in the queue.
  ['error-after-commit', /should not exist|in memory, and \[.* on disk/],
]
for (const [defect, expected] of defects) {
  test(`simulations find the defect ${defect}`, longTest, async () => {
    const { code, output } = await simulate(
      '--processes',
      '1',
      '--seed',
      '1',
      '--seeds',
      '50',
      '--defect',
      defect,
    )
    assert.equal(code, 1, output)
    assert.match(output, expected)
    assert.match(output, /failed: npm run simulate -- --seed \d+ --defect/)
  })
}
