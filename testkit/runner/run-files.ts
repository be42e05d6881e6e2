// Loads and runs the test files given as arguments, one after the other in this process:
//   node --test-reporter=spec testkit/runner/run-files.ts a.test.ts b.test.ts
// Not "node --test --test-isolation=none a.test.ts b.test.ts": whatever one file opens would stay open during the tests of
// all others, and idle servers took a third of the time of some groups.

import '../src/after-all-files.ts'
import { resolve } from 'node:path'
import { after, suite } from 'node:test'
import { pathToFileURL } from 'node:url'

const files = process.argv.slice(2).filter((file) => file.endsWith('.test.ts'))

for (const file of files) {
  const done = Promise.withResolvers<void>()
  process.send?.({ started: file })
  // The body ends before the tests that it defines begin.
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

// The runner ends a process that is still open two minutes after its last file. Before that, it says what keeps it open.
setTimeout(() => {
  console.error(`still open after the last file: ${process.getActiveResourcesInfo().join(', ')}`)
}, 60_000).unref()
