// jobcast mcp, started by the client of the official SDK as an assistant would.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { program } from '@jobcast/testkit/program'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { cleanEnv, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

test('serves the tools of the service over stdio, and ends with standard input', async () => {
  await server.putJobAndDevices('stdio-job', ['s1'])
  const env = Object.fromEntries(
    Object.entries({ ...cleanEnv(), ...access }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  )
  const transport = new StdioClientTransport({ command: process.execPath, args: [program, 'mcp'], env })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  try {
    assert.equal((await client.listTools()).tools.length, 9)
    const input = { jobName: 'stdio-job', targets: { deviceIds: ['s1'] } }
    const plan = await client.callTool({ name: 'plan_run', arguments: input })
    const [, { text }] = plan.content as [unknown, { text: string }]
    const { planId } = JSON.parse(text)
    const started = await client.callTool({ name: 'start_plan', arguments: { planId } })
    assert.notEqual(started.isError, true)
    await assert.rejects(client.readResource({ uri: 'jobcast://runs/999999' }), /J-304/)
  } finally {
    await client.close()
  }
})

test('a wrong key is reported on standard error at once, with the exit code of a refused key', async () => {
  const wrong = { ...access, JOBCAST_API_KEY: `${server.adminKey.slice(0, -1)}_` }
  const { code, stdout, stderr } = await runJobcast(['mcp'], wrong)
  assert.notEqual(code, 0)
  assert.equal(stdout, '')
  assert.match(stderr, /J-80\d|key/i)
})
