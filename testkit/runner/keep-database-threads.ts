// Loaded into every process of tests: the threads of databases are kept for the next database. To start one costs more than most tests do, and there are a thousand databases.

import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const keptThreads = new URL('kept-threads.ts', import.meta.url).href

if (isMainThread) {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'node:worker_threads' && context.parentURL?.endsWith('/sqlite/database-thread.ts')
        ? { url: keptThreads, shortCircuit: true }
        : next(specifier, context),
  })
}
