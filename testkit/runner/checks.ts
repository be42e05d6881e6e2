// Types and lint, which run beside the tests.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { Outcome } from './run-group.ts'

/** Several are done sooner, but each repeats much of what the others do: twice the CPU seconds, which the tests beside it need. */
const oneChecker = ['--checkers', '1']
/** So that the compiler collects its garbage less often. */
const env = { ...process.env, GOGC: process.env.GOGC ?? '400' }

const checks: { name: string; program: string; args: string[]; repeat: string }[] = [
  { name: 'types', program: 'tsc', args: ['--noEmit', ...oneChecker], repeat: 'npm run check:types' },
  {
    name: 'types of the console',
    program: 'tsc',
    args: ['--noEmit', '-p', 'console', ...oneChecker],
    repeat: 'npm run check:types',
  },
  {
    name: 'lint',
    program: 'biome',
    args: ['ci', '--error-on-warnings', '--colors=off', '.'],
    repeat: 'npm run check:lint',
  },
]

/** Runs them one after the other. Each is reported as a file of tests is. */
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
