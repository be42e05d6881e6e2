// What the runner reports of a test process: each file, each failure with its titles, and a process that dies.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { describeEnd, describeFailures } from '../runner/describe-outcome.ts'
import { type Outcome, runGroup } from '../runner/run-group.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

async function run(t: TestContext, ...contents: string[]): Promise<Outcome[]> {
  const folder = temporaryFolder(t)
  const files = contents.map((content, index) => {
    const file = join(folder, `${index}.test.ts`)
    writeFileSync(file, `import { after, suite, test } from 'node:test'\n${content}`)
    return file
  })
  const outcomes: Outcome[] = []
  const env = { NODE_TEST_CONTEXT: '' }
  await runGroup({ files, env, suffix: '' }, join(import.meta.dirname, '../..'), (outcome) =>
    outcomes.push(outcome),
  )
  return outcomes
}

test('each file is reported with passed and skipped tests, whatever its titles look like', async (t) => {
  const [first, second] = await run(
    t,
    `test('a # b', () => {}); test('c', async (t) => { await t.test('d', () => {}) })`,
    `test('e', { skip: 'no e here' }, () => {}); suite('f', () => { test('g', () => {}) })`,
  )
  assert.ok(first && second)
  assert.deepEqual([first.passed, first.skipped.length, first.failures.length], [3, 0, 0])
  assert.deepEqual([second.passed, second.skipped], [1, [{ title: 'e', reason: 'no e here' }]])
  assert.match(describeEnd(second), /^✔ .* s {2}.*1\.test\.ts: 1 passed, 1 skipped\n +skipped: no e here$/)
})

test('a failure has the titles around it, its error, what was printed, and the command that repeats it', async (t) => {
  const [failed, other] = await run(
    t,
    `suite('s', () => { test('t', () => { console.error('words of a child'); throw new Error('broken') }) })`,
    `test('u', () => {})`,
  )
  assert.ok(failed && other)
  assert.deepEqual(
    failed.failures.map(({ title }) => title),
    ['s > t'],
  )
  assert.match(describeEnd(failed), /^✖ .*: 0 passed, 1 failed\n +failed: s > t$/)
  assert.equal(other.failures.length, 0)
  const text = describeFailures([failed, other], 'npm test')
  assert.match(text, /0\.test\.ts > s > t\n {4}Error: broken/)
  assert.match(text, /words of a child/)
  assert.match(text, /again: JOBCAST_TEST_SEED=.* npm test -- .*0\.test\.ts/)
})

test('a process that ends in the middle fails the file it was in, and names those that were not run', async (t) => {
  const outcomes = await run(
    t,
    `test('a', () => {})`,
    `test('b', () => process.exit(3))`,
    `test('c', () => {})`,
  )
  const failed = outcomes.filter(({ failures }) => failures.length > 0)
  assert.equal(failed.length, 1)
  assert.match(failed[0]?.file ?? '', /1\.test\.ts$/)
  assert.match(
    describeEnd(failed[0] as Outcome),
    /\n +failed: The process of this file ended: exit code 3\.$/,
  )
  assert.match(failed[0]?.failures[0]?.text ?? '', /exit code 3[\s\S]*not run: .*2\.test\.ts/)
})

test('an error that is thrown after its test has ended fails the process', async (t) => {
  const late = `test('a', () => { setTimeout(() => { throw new Error('late') }, 5) })
    test('b', () => new Promise((resolve) => setTimeout(resolve, 50)))`
  const outcomes = await run(t, late)
  assert.ok(outcomes.some(({ failures }) => failures.length > 0))
})
