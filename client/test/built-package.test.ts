// The package as it is published runs where nothing is installed, and its types hold without those of Node.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { buildPackage } from '../generate/build.ts'

const run = promisify(execFile)
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))

const program = `
import { isJobcastError, Jobcast } from '@jobcast/client'
const [url = '', apiKey = ''] = process.argv.slice(2)
const jobcast = new Jobcast({ url, apiKey })
const { created } = await jobcast.jobs.put('restart')
const code = await jobcast.jobs.get('nothing').catch((error: unknown) => isJobcastError(error, 'J-301') && error.code)
console.log(JSON.stringify({ created, code }))
`

test('the built package has no dependency, runs as plain JavaScript, and brings its types', async (t) => {
  const folder = temporaryFolder(t)
  const installed = join(folder, 'node_modules/@jobcast/client')
  mkdirSync(join(folder, 'node_modules/@jobcast'), { recursive: true })
  buildPackage(installed)
  const described = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.equal(described.dependencies, undefined)

  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'program.ts'), `declare const process: { argv: string[] }\n${program}`)
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom']
  await run(process.execPath, [tsc, ...options, '--types', '', '--skipLibCheck', 'false', 'program.ts'], {
    cwd: folder,
  }).catch((error) => assert.fail(error.stdout))

  const { http, adminKey } = await openServer(t)
  const { stdout } = await run(process.execPath, [join(folder, 'program.js'), http, adminKey])
  assert.deepEqual(JSON.parse(stdout), { created: true, code: 'J-301' })
})
