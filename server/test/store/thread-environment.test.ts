import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'

const file = new URL('../../src/store/sqlite/thread-environment.ts', import.meta.url).href

const program = `
  import { enableCompileCache, getCompileCacheDir } from 'node:module'
  import { Worker } from 'node:worker_threads'
  import { threadEnvironment } from '${file}'
  if (process.argv[1]) enableCompileCache(process.argv[1])
  const thread = \`
    import { getCompileCacheDir } from 'node:module'
    import { parentPort } from 'node:worker_threads'
    parentPort.postMessage(getCompileCacheDir())
  \`
  const url = new URL('data:text/javascript,' + encodeURIComponent(thread))
  const worker = new Worker(url, { env: threadEnvironment() })
  worker.on('message', (inThread) =>
    console.log(JSON.stringify([getCompileCacheDir(), inThread, process.env.NODE_COMPILE_CACHE])))
`

async function runWith(folder: string, env: NodeJS.ProcessEnv) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program, folder],
    {
      env: { ...process.env, NODE_COMPILE_CACHE: undefined, ...env },
      timeout: 60_000,
    },
  )
  return JSON.parse(stdout) as [string | null, string | null, string | null]
}

test('threads use the compile cache of the main thread, and programs that we start do not inherit it', async (t) => {
  const [main, inThread, inherited] = await runWith(temporaryFolder(t), {})
  assert.ok(main)
  assert.equal(inThread, main)
  assert.equal(inherited, null)
})

test('threads use the compile cache that the environment names', async (t) => {
  const folder = temporaryFolder(t)
  const [main, inThread, inherited] = await runWith('', { NODE_COMPILE_CACHE: folder })
  assert.ok(main)
  assert.equal(inThread, main)
  assert.equal(inherited, folder)
})

test('without a compile cache threads have none', async () => {
  const [main, inThread] = await runWith('', {})
  assert.deepEqual([main, inThread], [null, null])
})
