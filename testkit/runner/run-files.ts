// Test files as arguments, loaded and run one after the other in this process:
//   node --test-reporter=spec testkit/runner/run-files.ts a.test.ts b.test.ts
// Not "node --test --test-isolation=none a.test.ts b.test.ts": what one file has opened would stay open during the tests
// of all others, and idle servers took a third of the time of some groups.

import '../src/after-all-files.ts'
import { resolve } from 'node:path'
import { after, suite } from 'node:test'
import { pathToFileURL } from 'node:url'

const files = process.argv.slice(2).filter((file) => file.endsWith('.test.ts'))

for (const file of files) {
  const done = Promise.withResolvers<void>()
  process.send?.({ started: file })
  // The body is done before the tests that it has defined begin.
  suite(file, async () => {
    try {
      await import(pathToFileURL(resolve(file)).href)
      after(() => done.resolve())
    } catch (error) {
      done.resolve()
      throw error
    }
  })
  await done.promise
}
