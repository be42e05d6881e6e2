// What `npm run package` makes, used as by somebody who has installed it.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { neededNode } from '@jobcast/agent/needed-node'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import { newTemporaryFolder, temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { isChaos } from '@jobcast/testkit/test-size'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { run as documented } from '../../cli/src/index.d.ts'
import { run as runCommand } from '../../cli/src/run.ts'
import { packagesInAgent, packagesInProgram, readNotices } from './bundled-packages.ts'
import { findNodes, type NodeProgram } from './find-nodes.ts'
import { blankEnvironment, installPackages, run } from './installed-packages.ts'

/** With fetch it took up to 91. `npm run bench:agent-memory` measures what it takes, which differs between machines. */
const idleMegabytes = 75
const isLinux = process.platform === 'linux'
/** Not a warning of the agent, which has one if it can write to its handlers: so it is where tests do not run as root. */
const nodeWarning = /^\(node:\d+\)/m
const [thisNode, ...otherNodes] = await findNodes()
assert.ok(thisNode)
const installed = await installPackages(newTemporaryFolder())
const program = installed.file('jobcast/bin/jobcast.js')
const agent = installed.file('@jobcast/agent/jobcast-agent.cjs')

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
  const python = readFileSync(join(dirname(installed.tarballs[0]?.path ?? ''), 'jobcast.py'), 'utf8')
  assert.match(python, /^class Jobcast\b/m)
  const { size } = statSync(agent)
  assert.ok(size < 1_500_000, `the agent has ${size} bytes`)
})

test('notices name every package that is bundled, and no other', async (t) => {
  const ofConsole = ['@preact/signals', '@preact/signals-core', 'preact']
  const bundled: Record<string, Iterable<string>> = {
    '@jobcast/agent': await packagesInAgent(temporaryFolder(t)),
    '@jobcast/client': [],
    // To bundle the program once more takes three seconds: `npm run test:chaos` does it.
    ...(isChaos && {
      jobcast: [...(await packagesInProgram(temporaryFolder(t))), ...ofConsole, 'swagger-ui-dist'],
    }),
  }
  for (const [name, packages] of Object.entries(bundled))
    assert.deepEqual(new Set(noticesOf(name).notices.map((each) => each.name)), new Set(packages), name)
  const named = new Set(noticesOf('jobcast').notices.map(({ name }) => name))
  const some = ['fastify', '@fastify/swagger-ui', 'ajv', 'pg', 'pino', 'mqtt', 'yaml', 'commander', 'typebox']
  for (const name of [...some, ...ofConsole, 'swagger-ui-dist']) assert.ok(named.has(name), name)
  assert.ok(noticesOf('@jobcast/agent').notices.some(({ name }) => name === 'mqtt'))
})

test('notices have the text of each licence, and the SBOM has the same packages', () => {
  for (const { name } of installed.tarballs) {
    const { notices, sbom } = noticesOf(name)
    assert.deepEqual(
      sbom.components.map(({ group, name, version }) => ({
        name: group === undefined ? name : `${group}/${name}`,
        version,
      })),
      notices.map(({ name, version }) => ({ name, version })),
    )
    for (const { name, text } of notices)
      assert.match(
        text,
        /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License|Blue Oak/,
        name,
      )
    assert.deepEqual([sbom.bomFormat, sbom.specVersion], ['CycloneDX', '1.6'])
    const refs = new Set([sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']))
    assert.equal(refs.size, sbom.components.length + 1)
    assert.deepEqual(new Set(sbom.dependencies.map(({ ref }) => ref)), refs)
    for (const ref of sbom.dependencies.flatMap(({ dependsOn }) => dependsOn)) assert.ok(refs.has(ref), ref)
  }
})

test('the command line as a function is what its types say', () => {
  const asDocumented: typeof documented = runCommand
  assert.equal(asDocumented.length, 2)
})

test('what package.json says about Node is what the program says', () => {
  const { engines } = JSON.parse(readFileSync(installed.file('jobcast/package.json'), 'utf8'))
  assert.equal(engines.node, `^${neededNode('commands', '20.0.0')} || >=${neededNode('commands', '22.0.0')}`)
})

function noticesOf(name: string) {
  return readNotices((file) => readFileSync(installed.file(`${name}/${file}`), 'utf8'))
}

const ownServer = await startServer(thisNode)
after(async () => {
  await ownServer.stop()
  rmSync(installed.folder, { recursive: true, force: true })
})

/** `npm test` tries this one, `npm run test:chaos` all. */
for (const node of isChaos ? [thisNode, ...otherNodes] : [thisNode]) {
  describe(`on Node ${node.version}`, async () => {
    const needed = neededNode('sqlite', node.version.slice(1))
    // An older Node is the one of a caller or of a device, whose server has its own.
    const isOwn = needed !== undefined || node === thisNode
    const server = isOwn ? ownServer : await startServer(node)
    if (!isOwn) after(server.stop)
    const { jobcast, env } = commandLine(node, server)

    test('the command line triggers, the agent carries it out, a program reads the result', async (t) => {
      const device = `kiosk-${node.version}`
      await jobcast('apply', '--file', fleetFile(device))
      const token = (await jobcast('devices', 'token', device)).stdout.trim()
      startAgent(t, node, server, { device, token, flags: [] })
      const { stdout } = await jobcast('trigger', 'greet', '--device', device, '--timeout', '60s', '--json')
      assert.match(stdout, /SUCCEEDED/)
      const read = await run(node.path, [clientProgram(), server.url, server.key, device], { env })
      assert.deepEqual(JSON.parse(read.stdout), ['SUCCEEDED'])
      assert.equal(read.stderr, '')
    })

    test('the command line serves an assistant over stdio', async () => {
      const client = new Client({ name: 'test', version: '1' })
      const command = { command: node.path, args: [program, 'mcp'], env }
      await client.connect(new StdioClientTransport(command))
      try {
        const { tools } = await client.listTools()
        assert.ok(tools.some(({ name }) => name === 'start_plan'))
        assert.notEqual((await client.callTool({ name: 'fleet_overview', arguments: {} })).isError, true)
      } finally {
        await client.close()
      }
    })

    chaosTest(
      'an idle agent loads nothing large, over each transport',
      {
        skip: isLinux ? false : 'needs /proc',
      },
      async (t) => {
        const device = `idle-${node.version}`
        await jobcast('apply', '--file', fleetFile(device))
        const token = (await jobcast('devices', 'token', device)).stdout.trim()
        for (const flags of [[], ['--http']]) {
          const agent = startAgent(t, node, server, { device, token, flags })
          await once(agent.stdout, 'data')
          // What it does after it has connected, such as to report its attributes, counts as well.
          await sleep(500)
          const megabytes = residentMegabytes(agent.pid)
          assert.ok(megabytes <= idleMegabytes, `${flags.join(' ')}: ${megabytes} MB`)
          t.diagnostic(`${flags.join(' ') || 'WebSocket'}: ${megabytes.toFixed(1)} MB`)
          agent.kill('SIGTERM')
          await once(agent, 'exit')
        }
      },
    )

    test('every command can be loaded', async () => {
      assert.equal((await jobcast('completion', 'bash')).stderr, '')
    })

    if (needed === undefined) {
      test('the service has its console, its description and its pages about the API', async () => {
        const page = await (await fetch(server.url)).text()
        const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(page) ?? []
        for (const path of [script, '/docs/static/swagger-ui-bundle.js', '/docs/', '/openapi.json'])
          assert.equal((await fetch(server.url + path)).status, 200, path)
      })

      test('the database is backed up while the service runs', async () => {
        await jobcast('backup', '--data', server.data, '--to', `${server.data}.backup`)
      })
    } else {
      test('one sentence says which Node the server needs', async () => {
        const opening = ['serve', 'dev', 'migrate', 'export', 'import', 'backup', 'secrets rotate']
        for (const command of opening) {
          const expected = `jobcast ${command} needs Node ${needed} or newer; this is ${node.version}.\n`
          await assert.rejects(jobcast(...command.split(' ')), { code: 1, stderr: expected })
        }
      })
    }
  })
}

type RunningServer = { url: string; key: string; data: string; stop(): Promise<void> }

async function startServer(node: NodeProgram): Promise<RunningServer> {
  const data = join(installed.folder, `data-${node.version}`)
  const ports = ['--port', '0', '--mqtt-port', '0', '--metrics-port', '0']
  const child = spawn(node.path, [program, 'serve', ...ports, '--data', data, '--json-log'], {
    cwd: installed.folder,
    env: blankEnvironment(installed.folder, node.path),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = stopper(child)
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, http } = JSON.parse(line)
    if (msg !== 'ready') continue
    const key = readFileSync(join(data, 'admin-key'), 'utf8').trim()
    return { url: http as string, key, data, stop }
  }
  await stop()
  throw new Error('the installed server does not start')
}

/** It ends without an error, and has printed no warning of Node. */
function stopper(child: ChildProcess): () => Promise<void> {
  endWithProcess(child)
  const gone = new Promise((resolve) => child.once('close', resolve))
  let written = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  return async () => {
    child.kill('SIGTERM')
    assert.equal(await gone, 0, written)
    assert.doesNotMatch(written, nodeWarning)
  }
}

function commandLine(node: NodeProgram, server: RunningServer) {
  const blank = blankEnvironment(installed.folder, node.path)
  const env = { ...blank, JOBCAST_URL: server.url, JOBCAST_API_KEY: server.key }
  const jobcast = async (...words: string[]) => {
    const written = await run(node.path, [program, ...words], { cwd: installed.folder, env })
    assert.doesNotMatch(written.stderr, nodeWarning)
    return written
  }
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

function startAgent(
  t: TestContext,
  node: NodeProgram,
  server: RunningServer,
  { device, token, flags }: { device: string; token: string; flags: string[] },
) {
  const handlers = join(installed.folder, 'handlers')
  mkdirSync(handlers, { recursive: true, mode: 0o755 })
  writeFileSync(join(handlers, 'greet'), '#!/bin/sh\necho hello\n')
  chmodSync(join(handlers, 'greet'), 0o755)
  const state = join(installed.folder, `state-${device}`)
  const child = spawn(
    node.path,
    [agent, '--device', device, '--handlers', handlers, '--state', state, ...flags],
    {
      env: {
        ...blankEnvironment(installed.folder, node.path),
        JOBCAST_URL: server.url,
        JOBCAST_DEVICE_TOKEN: token,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  child.stdout.resume()
  t.after(stopper(child))
  return child
}

function residentMegabytes(pid: number | undefined): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kilobytes) * 1024) / 1e6
}
