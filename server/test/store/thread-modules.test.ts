// The modules that threads of SQLite databases load. A server has up to three threads, and each loads its modules separately.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const thread = new URL('../../src/store/sqlite/database-thread.ts', import.meta.url).href

const program = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  await import('${thread}')
  console.log(JSON.stringify(loaded.filter((url) => url.startsWith('file:'))))
`

test('a thread loads no schemas, only the words of the contract', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const loaded: string[] = JSON.parse(stdout)
  assert.ok(loaded.includes(thread))
  assert.ok(loaded.some((url) => url.endsWith('/contract/src/words.ts')))
  assert.deepEqual(
    loaded.filter((url) => url.includes('/node_modules/') || url.endsWith('/contract/src/index.ts')),
    [],
  )
})
