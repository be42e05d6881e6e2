// `npm run test:changed`: runs the tests that depend on uncommitted changes. `npm run test:changed -- main` takes the changes
// since that commit instead. Types and lint are checked as well.

import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { testsThatDependOn } from './changed-tests.ts'
import { findTestFiles } from './plan.ts'

const root = join(import.meta.dirname, '../..')
const [since = 'HEAD'] = process.argv.slice(2)
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
const changed = [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')]
const tests = testsThatDependOn(root, changed, findTestFiles(root))
if (tests.length === 0) {
  console.log(changed.length === 0 ? 'Nothing has changed.' : `No test depends on ${changed.join(', ')}.`)
} else {
  const runner = join(import.meta.dirname, 'run-tests.ts')
  const child = spawn(process.execPath, [runner, '--checks', ...tests], { cwd: root, stdio: 'inherit' })
  child.once('close', (code) => {
    process.exitCode = code ?? 1
  })
}
