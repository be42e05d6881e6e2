// Loaded into every process of tests and its threads: a database thread runs in the built form, which starts in half the
// time. There are hundreds of them.

import { registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const program = process.env.JOBCAST_TEST_PROGRAM
if (!isMainThread && program !== undefined) {
  const url = pathToFileURL(join(dirname(program), '../dist/database-thread.js')).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.endsWith('/sqlite/database-thread.ts')
        ? { url, shortCircuit: true }
        : next(specifier, context),
  })
}
