import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testsThatDependOn } from '../runner/changed-tests.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const files = {
  'contract/package.json': '{"name":"@jobcast/contract","exports":{".":"./src/index.ts"}}',
  'contract/src/index.ts': `export * from './word.ts'`,
  'contract/src/word.ts': '',
  'testkit/package.json': '{"name":"@jobcast/testkit","exports":{"./*":"./src/*.ts"}}',
  'testkit/src/wait.ts': '',
  'server/src/clock.ts': `import type { Word } from '@jobcast/contract'`,
  'server/src/work.ts': `import { word } from '@jobcast/contract'\nimport { clock } from './clock.ts'`,
  'server/test/work.test.ts': `import '../src/work.ts'\nimport { wait } from '@jobcast/testkit/wait'`,
  'server/test/clock.test.ts': `const { clock } = await import('../src/clock.ts')`,
  'server/test/store/rows.test.ts': '',
  'docs/test/pages.test.ts': '',
}
const tests = Object.keys(files).filter((file) => file.endsWith('.test.ts'))

function affected(t: TestContext, ...changed: string[]): string[] {
  const root = temporaryFolder(t)
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return testsThatDependOn(root, changed, tests)
}

test('a test runs when it, or what it imports over any number of steps and packages, has changed', (t) => {
  assert.deepEqual(affected(t, 'server/test/work.test.ts'), ['server/test/work.test.ts'])
  assert.deepEqual(affected(t, 'contract/src/word.ts'), ['server/test/work.test.ts'])
  assert.deepEqual(affected(t, 'testkit/src/wait.ts'), ['server/test/work.test.ts'])
  assert.deepEqual(affected(t, 'server/src/clock.ts'), [
    'server/test/work.test.ts',
    'server/test/clock.test.ts',
  ])
})

test('a page runs the tests of pages, a migration those of the stores, and a setting of all packages every test', (t) => {
  assert.deepEqual(affected(t, 'docs/api.md'), ['docs/test/pages.test.ts'])
  assert.deepEqual(affected(t, 'server/src/store/sqlite/migrations/0001-a.sql'), [
    'server/test/store/rows.test.ts',
  ])
  assert.deepEqual(affected(t, 'package-lock.json'), tests)
})
