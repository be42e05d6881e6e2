// Test files as arguments, loaded one after the other into this process:
//   node --test-reporter=spec --test-timeout=300000 testkit/runner/run-files.ts a.test.ts b.test.ts
// Not "node --test --test-isolation=none a.test.ts b.test.ts" (Node 24.22): a file that throws while it loads, after its
// first test, is skipped silently there, and the process ends with 0. Here it ends with 1. And not with --test-force-exit:
// that ends the process when the tests of the first files are done and the next file is still loading.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) {
  if (file.endsWith('.test.ts')) await import(pathToFileURL(resolve(file)).href)
}
