// Types and lint, which run in parallel with the tests.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { Outcome } from './run-group.ts'

/**
 * Several checkers finish sooner, but repeat each other's work: they take twice the CPU seconds, which the tests need. What was
 * checked before is not checked again: with no change, it takes 3 CPU seconds instead of 15.
 */
const checkTypes = (name: string) => [
  ...['--noEmit', '--checkers', '1', '--incremental'],
  ...['--tsBuildInfoFile', `node_modules/.cache/${name}.tsbuildinfo`],
]
/** Makes the compiler collect its garbage less often. */
const env = { ...process.env, GOGC: process.env.GOGC ?? '400' }

const checks: { name: string; program: string; args: string[]; repeat: string }[] = [
  { name: 'types', program: 'tsc', args: checkTypes('types'), repeat: 'npm run check:types' },
  {
    name: 'types of the console',
    program: 'tsc',
    args: ['-p', 'console', ...checkTypes('console-types')],
    repeat: 'npm run check:types',
  },
  {
    name: 'lint',
    program: 'biome',
    args: ['ci', '--error-on-warnings', '--colors=off', '.'],
    repeat: 'npm run check:lint',
  },
]

/** Runs the checks one after the other. Each is reported like a test file. */
export async function runChecks(root: string, onEnd: (outcome: Outcome) => void): Promise<void> {
  for (const { name, program, args, repeat } of checks) {
    const startedAt = performance.now()
    const { isGood, output } = await run(join(root, 'node_modules/.bin', program), args, root)
    onEnd({
      file: name,
      seconds: (performance.now() - startedAt) / 1000,
      cpuSeconds: undefined,
      passed: isGood ? 1 : 0,
      failures: isGood ? [] : [{ title: '', text: output.slice(0, 20_000) }],
      skipped: [],
      group: { files: [name], env: {}, suffix: '' },
      output: '',
      repeat,
    })
  }
}

function run(program: string, args: string[], cwd: string): Promise<{ isGood: boolean; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 2 ** 28, shell: process.platform === 'win32' }
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ isGood: error === null, output: stdout + stderr }),
    )
  })
}
