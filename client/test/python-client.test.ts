// The Python client: it matches the document, every operation can be called, and nothing is created twice.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newDevice } from '@jobcast/testkit/call-device'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { readApiDocument } from '../generate/generate.ts'
import { pythonFile, pythonText } from '../generate/python/module.ts'
import { operations } from './support/api-answers.ts'
import { openCheckingProxy } from './support/checking-proxy.ts'
import { noPython, runPython } from './support/run-python.ts'
import { openScriptedServer } from './support/scripted-server.ts'

test('the Python client is that of docs/openapi.json; if not: npm run generate', () => {
  assert.equal(readFileSync(pythonFile, 'utf8'), pythonText(readApiDocument()))
})

test('every operation can be called from Python', { skip: noPython }, async (t) => {
  const issuer = await openForgingIssuer(t)
  const claims = { iss: issuer.url, sub: 'ci', aud: 'jobcast', exp: Math.floor(Date.now() / 1000) + 3600 }
  const rule = { issuer: issuer.url, audience: 'jobcast', subject: 'ci', owner: 'default' }
  const server = await openServer(t, {
    webhookAllow: ['127.0.0.0/8'],
    oidcTrust: [{ ...rule, scopes: ['READ' as const] }],
  })
  const device = await newDevice(server, 'kiosk-1')
  await server.call('PUT', '/job/api/jobs/written', { body: { document: { handler: 'written' } } })
  await server.call('POST', '/job/api/jobs/execute', { body: { jobName: 'written', deviceIds: ['kiosk-1'] } })
  const { jobId } = (await device.startNext()).json.execution
  const jobExecutionId = Number(jobId)
  await device.output(jobExecutionId, 0, 'hello')
  await device.update(jobExecutionId, 'SUCCEEDED')
  const proxy = await openCheckingProxy(t, server.http)
  const facts = { deviceId: 'kiosk-1', jobExecutionId, idToken: await issuer.sign(claims) }
  const given = { url: proxy.url, apiKey: server.adminKey, facts }
  const { last, errors } = await runPython(t, 'every_operation.py', given)
  assert.deepEqual(proxy.complaints, [])
  assert.deepEqual([errors, last], ['', 'all'])
  const described = operations.map(({ operationId }) => operationId)
  assert.deepEqual([...new Set(proxy.takeCalled())].sort(), described.sort())
})

test('with the Python client nothing is created twice and no event is missed, wherever the connection is cut', {
  skip: noPython,
}, async (t) => {
  const server = await openServer(t)
  const a = await newDevice(server, 'a')
  const b = await newDevice(server, 'b')
  for (const job of ['restart', 'spare']) await server.call('PUT', `/job/api/jobs/${job}`, { body: {} })
  const proxy = await openCuttingProxy(t, server.http)
  const problem = (status: number, code: string) => ({ status, body: { title: 'no', status, code } })
  const passing = await openScriptedServer(
    t,
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' },
    { ...problem(503, 'J-910'), headers: { 'retry-after': '0' } },
    problem(409, 'J-502'),
    { status: 200, body: { status: 'ok' } },
  )
  const redirecting = await openScriptedServer(t, { status: 307, headers: { location: passing.url } })
  const finish = async () => {
    const [first, second] = [await a.startNext(), await b.startNext()]
    setTimeout(async () => {
      proxy.cutAll()
      await a.update(Number(first.json.execution.jobId), 'SUCCEEDED')
      await b.update(Number(second.json.execution.jobId), 'FAILED')
    }, 500)
  }
  const { last, errors } = await runPython(t, 'lost_answers.py', {
    url: proxy.url,
    apiKey: server.adminKey,
    facts: {
      direct: server.http,
      passing: passing.url,
      redirecting: redirecting.url,
      closed: `http://127.0.0.1:${await freePort()}`,
    },
    async act(asked) {
      if (asked === 'finish') await finish()
      else if (asked.startsWith('cut ')) proxy.cutNext(...asked.split(' ').slice(1).map(Number))
    },
  })
  assert.deepEqual([errors, last], ['', 'all'])
  assert.equal(passing.requests.length, 4)
  assert.equal(redirecting.requests.length, 2)
})
