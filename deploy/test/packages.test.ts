// What `npm run package` makes, used as by somebody who has installed it.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import { newTemporaryFolder } from '@jobcast/testkit/temporary-folder'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { run as documented } from '../../cli/src/index.d.ts'
import { run as runCommand } from '../../cli/src/run.ts'
import { blankEnvironment, findNodes, installPackages, type NodeProgram, run } from './installed-packages.ts'

const installed = await installPackages(newTemporaryFolder())
const program = installed.file('jobcast/bin/jobcast.js')
const agent = installed.file('@jobcast/agent/jobcast-agent.js')
const nodes = findNodes()

test('publint finds nothing to say', async () => {
  for (const { path } of installed.tarballs) {
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(path)).buffer },
      strict: true,
    })
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg ?? {})),
      [],
    )
  }
})

test('every package says what it is, and has no dependencies and no tests', () => {
  for (const { name } of installed.tarballs) {
    const described = JSON.parse(readFileSync(installed.file(`${name}/package.json`), 'utf8'))
    for (const field of ['description', 'license', 'repository', 'exports', 'files', 'engines'])
      assert.ok(described[field], `${name}: ${field}`)
    for (const field of ['dependencies', 'scripts', 'private']) assert.equal(described[field], undefined)
    for (const file of ['LICENSE', 'README.md', described.exports['.'].types, described.exports['.'].default])
      assert.ok(statSync(installed.file(`${name}/${file}`)).size > 0)
  }
  const { size } = statSync(agent)
  assert.ok(size < 1_500_000, `the agent has ${size} bytes`)
})

test('the command line as a function is what its types say', () => {
  const asDocumented: typeof documented = runCommand
  assert.equal(asDocumented.length, 2)
})

/** The server, on this Node. */
const server = await startServer()
after(async () => {
  await server.stop()
  rmSync(installed.folder, { recursive: true, force: true })
})

test('the service has its console, its description and its pages about the API', async () => {
  const page = await (await fetch(server.url)).text()
  const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? []
  for (const path of [script, '/docs/static/swagger-ui-bundle.js', '/docs/', '/openapi.json'])
    assert.equal((await fetch(server.url + path)).status, 200, path)
})

for (const node of nodes) {
  describe(`on Node ${node.version}`, () => {
    test('the command line triggers, the agent carries it out, a program reads the result', async (t) => {
      const { jobcast, env } = commandLine(node)
      const device = `kiosk-${node.major}`
      await jobcast('apply', '--file', fleetFile(device))
      const token = (await jobcast('devices', 'token', device)).stdout.trim()
      startAgent(t, node, { device, token })
      const { stdout } = await jobcast('trigger', 'greet', '--device', device, '--timeout', '60s', '--json')
      assert.match(stdout, /SUCCEEDED/)
      const read = await run(node.path, [clientProgram(), server.url, server.key, device], { env })
      assert.deepEqual(JSON.parse(read.stdout), ['SUCCEEDED'])
    })

    if (node.major >= 24) return
    test('one sentence says which Node the server needs', async () => {
      const { jobcast } = commandLine(node)
      for (const command of ['serve', 'dev', 'backup']) {
        const expected = `jobcast ${command} needs Node 24 or newer; this is ${node.version}.\n`
        await assert.rejects(jobcast(command), { code: 1, stderr: expected })
      }
    })
  })
}

async function startServer() {
  const [node] = nodes.filter(({ major }) => major >= 24)
  assert.ok(node)
  const data = join(installed.folder, 'data')
  const ports = ['--port', '0', '--mqtt-port', '0', '--metrics-port', '0']
  const child = spawn(node.path, [program, 'serve', ...ports, '--data', data, '--json-log'], {
    cwd: installed.folder,
    env: blankEnvironment(installed.folder, node.path),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithProcess(child)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, http } = JSON.parse(line)
    if (msg !== 'ready') continue
    const key = readFileSync(join(data, 'admin-key'), 'utf8').trim()
    const stop = async () => {
      child.kill('SIGTERM')
      assert.equal(await gone, 0)
    }
    return { url: http as string, key, stop }
  }
  throw new Error('the installed server does not start')
}

function commandLine(node: NodeProgram) {
  const blank = blankEnvironment(installed.folder, node.path)
  const env = { ...blank, JOBCAST_URL: server.url, JOBCAST_API_KEY: server.key }
  const jobcast = (...words: string[]) => run(node.path, [program, ...words], { cwd: installed.folder, env })
  return { jobcast, env }
}

function fleetFile(device: string): string {
  const file = join(installed.folder, `${device}.yaml`)
  writeFileSync(file, `jobs: { greet: { document: { handler: greet } } }\ndevices: [${device}]\n`)
  return file
}

function clientProgram(): string {
  const file = join(installed.folder, 'read.js')
  writeFileSync(
    file,
    `import { Jobcast } from '@jobcast/client'
import { startAgent } from '@jobcast/agent'
import { run } from 'jobcast'
if (typeof startAgent !== 'function' || typeof run !== 'function') throw new Error('not exported')
const [url, apiKey, deviceId] = process.argv.slice(2)
const states = []
for await (const { execState } of new Jobcast({ url, apiKey }).executions.list({ deviceId })) states.push(execState)
console.log(JSON.stringify(states))
`,
  )
  return file
}

function startAgent(t: TestContext, node: NodeProgram, { device, token }: { device: string; token: string }) {
  const handlers = join(installed.folder, 'handlers')
  mkdirSync(handlers, { recursive: true, mode: 0o755 })
  writeFileSync(join(handlers, 'greet'), '#!/bin/sh\necho hello\n')
  chmodSync(join(handlers, 'greet'), 0o755)
  const state = join(installed.folder, `state-${device}`)
  const child = spawn(node.path, [agent, '--device', device, '--handlers', handlers, '--state', state], {
    env: {
      ...blankEnvironment(installed.folder, node.path),
      JOBCAST_URL: server.url,
      JOBCAST_DEVICE_TOKEN: token,
    },
    stdio: 'inherit',
  })
  endWithProcess(child)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  t.after(async () => {
    child.kill('SIGTERM')
    assert.equal(await gone, 0)
  })
}
