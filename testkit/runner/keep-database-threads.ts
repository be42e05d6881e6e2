// Loaded into every test process: reuses the threads of databases. Starting a thread costs more than most tests, and there are a thousand databases.

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
