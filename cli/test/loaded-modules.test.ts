// What short commands load. A script starts hundreds of them, and the schemas take most of the start of each.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const commands = ['trigger', 'runs', 'executions', 'events', 'devices', 'agent']
const urls = commands.map((name) => new URL(`../src/commands/${name}.ts`, import.meta.url).href)

const program = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  for (const url of process.argv.slice(1)) await import(url)
  console.log(JSON.stringify(loaded))
`

test('commands that only call the API, and the agent, load no schemas, no YAML and no sign-in of people', async () => {
  const args = ['--input-type=module', '--eval', program, ...urls]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const loaded: string[] = JSON.parse(stdout)
  assert.ok(loaded.some((url) => url.endsWith('/contract/src/words.ts')))
  assert.deepEqual(
    loaded.filter((url) =>
      /\/node_modules\/(?:typebox|yaml|jose|openid-client)\/|\/contract\/src\/index\.ts$/.test(url),
    ),
    [],
  )
})
