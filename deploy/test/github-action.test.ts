// The steps of deploy/github-action run as at GitHub: against a service, with tokens of an issuer, and devices whose names are
// meant to do harm.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import { newDevice } from '@jobcast/testkit/call-device'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { compileCache } from '@jobcast/testkit/compile-cache'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openGithubTokens } from '@jobcast/testkit/github-tokens'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { isChaos } from '@jobcast/testkit/test-size'
import { type Finished, readAction, runAction } from './composite-action.ts'
import { repository } from './files.ts'

const path = 'deploy/github-action/action.yml'
const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openForgingIssuer(ending)
const subject = 'repo:acme/app:ref:refs/heads/main'
const scopes: Scope[] = ['TRIGGER', 'READ']
const server = await openServer(ending, {
  oidcTrust: [{ issuer: issuer.url, audience: 'jobcast', owner: 'default', subject, scopes }],
})
const github = await openGithubTokens(ending, issuer, subject)
const url = server.http
const workflow = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/app',
  GITHUB_RUN_ID: '4711',
}

function act(
  t: TestContext,
  inputs: Record<string, string>,
  env: Record<string, string> = github.env,
): Promise<Finished> {
  const folder = temporaryFolder(t)
  const programs = [join(repository, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH]
  const home = {
    NODE_COMPILE_CACHE: compileCache,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    PATH: programs.join(':'),
  }
  return runAction(path, folder, { inputs: { url, ...inputs }, env: { ...home, ...workflow, ...env } })
}

/** Works until the test ends. */
async function workingDevice(t: TestContext, deviceId: string, status: string, statusDetails = {}) {
  const device = await newDevice(server, deviceId)
  const over = new AbortController()
  const work = (async () => {
    for (;;) {
      await device.call('GET', '?wait=30', undefined, { signal: over.signal })
      const { execution } = (await device.startNext()).json
      if (!execution) continue
      const reply = await device.update(execution.jobId, status, { statusDetails })
      assert.equal(reply.status, 200, reply.text)
    }
  })().catch((error: Error) => {
    if (!over.signal.aborted) throw error
  })
  t.after(async () => {
    over.abort()
    await work
  })
}

test('triggers, waits and gives outputs, signed in by the token of the workflow', async (t) => {
  await server.putJobAndDevices('update', [])
  await workingDevice(t, 'good-1', 'SUCCEEDED')
  const { code, log, outputs, annotations, summary } = await act(t, {
    job: 'update',
    devices: 'good-1\n',
    parameters: '',
  })
  assert.equal(code, 0, log)
  const { 'run-id': runId = '', ...others } = outputs
  assert.deepEqual(others, {
    url: `${url}/runs/${runId}`,
    state: 'SUCCEEDED',
    counts: '{"SUCCEEDED":1}',
    'exit-code': '0',
  })
  assert.deepEqual(annotations, [])
  assert.match(
    summary,
    new RegExp(`^<h3><a href="${url}/runs/${runId}">update #${runId}</a></h3>\n<p>SUCCEEDED on 1 `),
  )
  const { json: run } = await server.call('GET', `/job/api/runs/${runId}`)
  assert.equal(run.note, 'https://github.com/acme/app/actions/runs/4711')
  assert.equal(run.createdByName, subject)
})

test('devices on which it failed are annotated, and hostile names are text everywhere', async (t) => {
  const names = [
    '::error title=x::owned',
    '<img src=x onerror=alert(1)>',
    '100%0A::warning::a,b:c',
    '$(touch owned)`touch owned`',
    '--api-key=none',
    '| a | b |',
  ]
  const reason = '</td></table> ::add-mask::a %0A##[add-path]x [here](javascript:alert(1)) **b** &lt;'
  for (const name of names) await workingDevice(t, name, 'FAILED', { reason })
  const { code, outputs, annotations, summary } = await act(t, { job: 'update', devices: names.join('\n') })
  assert.equal(code, 6)
  assert.equal(outputs.state, 'UNSUCCESSFUL')
  assert.equal(outputs.counts, `{"FAILED":${names.length}}`)
  assert.equal(outputs['exit-code'], '6')
  assert.deepEqual(annotations.map(({ title }) => title).sort(), [...names].sort())
  for (const { kind, message } of annotations)
    assert.deepEqual([kind, message], ['error', `FAILED: ${reason}`])
  const tags = new Set(summary.match(/<\/?\w+/g))
  assert.deepEqual(
    [...tags].filter((tag) => !/^<\/?(?:h3|a|p|table|tr|th|td)$/.test(tag)),
    [],
  )
  assert.ok(summary.includes('&lt;img src=x onerror=alert(1)&gt;'))
  assert.doesNotMatch(summary, /\n\s*\n./)
  assert.equal(existsSync('owned'), false)
})

chaosTest('of many failed devices nine are annotated, and the others counted', async (t) => {
  const names = Array.from({ length: 12 }, (_, at) => `many-${at}`)
  await server.putJobAndDevices('expiring', names)
  await server.call('PUT', '/job/api/jobs/expiring', { body: { expireAfterSeconds: 1 } })
  const { code, annotations, summary } = await act(t, { job: 'expiring', devices: names.join('\n') })
  assert.equal(code, 6)
  assert.equal(annotations.length, 10)
  assert.match(annotations.at(-1)?.message ?? '', /^3 or more other devices: http/)
  assert.equal(summary.match(/<tr><td>/g)?.length, 12)
})

chaosTest('a run that is paused by its rule ends with 10, and says why', async (t) => {
  const names = ['bad-1', 'bad-2', 'bad-3']
  for (const name of names) await workingDevice(t, name, 'FAILED')
  const inputs = { job: 'update', devices: names.join('\n'), canary: '1', waves: '100%', 'stop-at': '1' }
  const { code, outputs, annotations, summary } = await act(t, inputs)
  assert.equal(code, 10)
  assert.deepEqual([outputs.state, outputs['exit-code']], ['PAUSED', '10'])
  assert.equal(annotations[0]?.message, 'FAILED: no reason reported')
  assert.match(summary, /<p>Run \d+ is paused .*1 of 3 released.*<\/p>/)
})

chaosTest('a run that waits for approval ends with 9, with a warning', async (t) => {
  const { code, outputs, annotations } = await act(t, { job: 'update', devices: 'good-1', approval: 'true' })
  assert.equal(code, 9)
  assert.equal(outputs.state, 'AWAITING_APPROVAL')
  assert.deepEqual(
    annotations.map(({ kind }) => kind),
    ['warning'],
  )
  assert.match(annotations[0]?.message ?? '', /waits for approval/)
})

chaosTest('ends at once without waiting, and with 7 if the wait takes too long', async (t) => {
  await server.putJobAndDevices('update', ['away-1'])
  const inputs = { job: 'update', devices: 'away-1' }
  const unwatched = await act(t, { ...inputs, wait: 'false' })
  assert.deepEqual([unwatched.code, unwatched.outputs.state], [0, 'RUNNING'])
  const timedOut = await act(t, { ...inputs, timeout: '1s' })
  assert.deepEqual([timedOut.code, timedOut.outputs.state], [7, 'RUNNING'])
  assert.match(timedOut.annotations[0]?.message ?? '', /has not finished after/)
})

test('parameters, a selector and a key are passed on, and the key is masked', async (t) => {
  await server.call('PUT', '/job/api/jobs/typed', {
    body: {
      document: { version: '${params.version}' },
      parameters: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
    },
  })
  await server.call('PUT', '/job/api/devices/typed-1', { body: { tags: ['typed'] } })
  const { apiKey } = await server.newKey(scopes)
  const inputs = { job: 'typed', where: 'tag=typed', wait: 'false', note: 'from a test', 'api-key': apiKey }
  const { code, log, outputs } = await act(t, { ...inputs, parameters: 'version: "2.10"' }, {})
  assert.equal(code, 0, log)
  assert.doesNotMatch(log, new RegExp(apiKey))
  const { json: run } = await server.call('GET', `/job/api/runs/${outputs['run-id']}`)
  assert.deepEqual([run.note, run.parameters], ['from a test', { version: '2.10' }])
})

test('what is wrong is one error, and nothing is triggered', async (t) => {
  const refused: [inputs: Record<string, string>, code: number, message: RegExp][] = [
    [{ job: '', devices: 'good-1' }, 2, /^Set the input job/],
    [{ job: 'update' }, 2, /^Set one of the inputs devices, where and group/],
    [{ job: 'update', devices: 'good-1', group: 'all' }, 2, /^Set one of the inputs/],
    [{ job: 'update', devices: 'good-1', wait: 'maybe' }, 2, /wait is true or false/],
    [{ job: 'update', devices: 'good-1', rate: '1; touch owned' }, 2, /rate/],
    [{ job: '$(touch owned)', devices: 'good-1' }, 4, /not found/],
    [{ job: '--help', devices: 'good-1' }, 4, /not found/],
    [{ job: 'update', devices: 'good-1', audience: 'another' }, 3, /J-802/],
  ]
  // Each call starts the action and the command line: `npm test` makes one that each of the two refuses.
  for (const [inputs, code, message] of isChaos ? refused : refused.filter((_, at) => at === 1 || at === 5)) {
    const ended = await act(t, inputs)
    assert.deepEqual([ended.code, ended.outputs['exit-code']], [code, String(code)], ended.log)
    assert.match(ended.annotations[0]?.message ?? '', message)
    assert.deepEqual([ended.annotations.length, ended.outputs['run-id']], [1, ''])
  }
  assert.equal(existsSync('owned'), false)
})

test('a runner without jobcast gets an error that says so', async (t) => {
  const { code, annotations } = await act(t, { job: 'update', devices: 'good-1' }, { PATH: '/usr/bin:/bin' })
  assert.equal(code, 1)
  assert.match(annotations[0]?.message ?? '', /does not have jobcast/)
})

test('no input is part of the text of a step, and every input is used', () => {
  const { inputs, runs } = readAction(path)
  for (const { run } of runs.steps) assert.doesNotMatch(run, /\$\{\{/)
  const used = new Set(runs.steps.flatMap(({ env }) => Object.values(env ?? {})))
  assert.deepEqual(
    [...used].sort(),
    Object.keys(inputs)
      .map((name) => `\${{ inputs.${name} }}`)
      .sort(),
  )
  const folder = join(repository, dirname(path))
  const sources = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('')
  for (const name of runs.steps.flatMap(({ env }) => Object.keys(env ?? {})))
    assert.match(sources, new RegExp(`\\b(?:${name}|${name.slice('INPUT_'.length)})\\b(?!: \\$)`), name)
})

test('the guide names every input and output', () => {
  const { inputs, outputs } = readAction(path)
  const guide = readFileSync(join(repository, 'docs/guides/github-actions-without-secrets.md'), 'utf8')
  const [, afterInputs = ''] = guide.split('| input | |')
  const [ofInputs = '', ofOutputs = ''] = afterInputs.split('| output | |')
  const namesIn = (table: string) =>
    [...table.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \|/gm)].flatMap(
      ([, cell = '']) => cell.match(/[\w-]+/g) ?? [],
    )
  assert.deepEqual(namesIn(ofInputs).sort(), Object.keys(inputs).sort())
  assert.deepEqual(namesIn(ofOutputs).sort(), Object.keys(outputs).sort())
})
