// Test files as arguments, loaded one after the other into this process:
//   node --test-reporter=spec --test-timeout=300000 testkit/runner/run-files.ts a.test.ts b.test.ts
// Not "node --test --test-isolation=none a.test.ts b.test.ts" (Node 24.22): a file that throws while it loads, after its
// first test, is skipped silently there, and the process ends with 0.

import { resolve } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const files = process.argv.slice(2).filter((file) => file.endsWith('.test.ts'))

// The first test ends when all files have loaded. Without it the tests of the first files could all be done, and the
// hooks that close servers could run, while the next file is still opening its own.
const loading = Promise.withResolvers<void>()
test('all files load', () => loading.promise)

try {
  for (const file of files) await import(pathToFileURL(resolve(file)).href)
  loading.resolve()
} catch (error) {
  loading.reject(error)
}
