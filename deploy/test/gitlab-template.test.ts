// The script of deploy/gitlab runs in a shell with the variables that GitLab sets.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, type TestContext, test } from 'node:test'
import type { Scope } from '@jobcast/contract'
import { compileCache } from '@jobcast/testkit/compile-cache'
import { openForgingIssuer } from '@jobcast/testkit/forging-issuer'
import { openServer } from '@jobcast/testkit/open-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { readText, readYaml, repository } from './files.ts'

const file = 'deploy/gitlab/jobcast.gitlab-ci.yml'
type Template = {
  '.jobcast': {
    id_tokens: { JOBCAST_ID_TOKEN: { aud: string } }
    variables: Record<string, string>
    script: string[]
  }
}
const { id_tokens: tokens, script, variables } = readYaml<Template>(file)['.jobcast']

const ending = { after: (close: () => unknown) => after(close) }
const issuer = await openForgingIssuer(ending)
const subject = 'project_path:acme/app:ref_type:branch:ref:main'
const scopes: Scope[] = ['TRIGGER', 'READ']
const server = await openServer(ending, {
  oidcTrust: [{ issuer: issuer.url, audience: 'jobcast', owner: 'default', subject, scopes }],
})

async function runScript(t: TestContext, given: Record<string, string>) {
  const folder = temporaryFolder(t)
  const iat = Math.floor(Date.now() / 1000)
  const aud = tokens.JOBCAST_ID_TOKEN.aud
  const token = await issuer.sign({ iss: issuer.url, sub: subject, aud, iat, exp: iat + 300 })
  const programs = [join(repository, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH]
  const pipeline = 'https://gitlab.com/acme/app/-/pipelines/1'
  const env = {
    ...{ PATH: programs.join(':'), HOME: folder, XDG_CONFIG_HOME: folder, CI_BUILDS_DIR: folder },
    ...{ NODE_COMPILE_CACHE: compileCache, JOBCAST_ID_TOKEN: token, JOBCAST_URL: server.http },
    ...variables,
    ...{ JOBCAST_TRIGGER_NOTE: (variables.JOBCAST_TRIGGER_NOTE ?? '').replace('$CI_PIPELINE_URL', pipeline) },
    ...given,
  }
  const child = spawn('sh', ['-c', script.join('\n')], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const read = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
  return { code, log: stdout + stderr, read }
}

test('triggers with the token of the job, waits, and lists the devices on which it was unsuccessful', async (t) => {
  const names = ['$(touch owned)', '--api-key=none', '`touch owned`"; touch owned; "']
  await server.putJobAndDevices('expiring', names)
  await server.call('PUT', '/job/api/jobs/expiring', { body: { expireAfterSeconds: 1 } })
  const { code, log, read } = await runScript(t, {
    JOBCAST_TRIGGER_JOB: 'expiring',
    JOBCAST_TRIGGER_DEVICES: names.join('\n'),
  })
  assert.equal(code, 6, log)
  const [, runId] = /^JOBCAST_TRIGGER_RUN_ID=(\d+)\n$/.exec(read('jobcast.env') ?? '') ?? []
  assert.match(log, new RegExp(`^${server.http}/runs/${runId}$`, 'm'))
  const unsuccessful: { deviceId: string }[] = JSON.parse(read('jobcast-unsuccessful.json') ?? '')
  assert.deepEqual(unsuccessful.map(({ deviceId }) => deviceId).sort(), [...names].sort())
  assert.equal(read('owned'), undefined)
  const { json: run } = await server.call('GET', `/job/api/runs/${runId}`)
  assert.deepEqual([run.note, run.createdByName], ['https://gitlab.com/acme/app/-/pipelines/1', subject])
})

test('flags of a rollout and parameters are passed on, and a run that waits for approval ends with 9', async (t) => {
  await server.call('PUT', '/job/api/jobs/typed', {
    body: {
      document: { version: '${params.version}' },
      parameters: { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] },
    },
  })
  await server.call('PUT', '/job/api/devices/typed-1', { body: { tags: ['typed'] } })
  const { code, log, read } = await runScript(t, {
    JOBCAST_TRIGGER_JOB: 'typed',
    JOBCAST_TRIGGER_WHERE: 'tag=typed',
    JOBCAST_TRIGGER_PARAMETERS: 'version: "2.10"',
    JOBCAST_TRIGGER_RATE: '7',
    JOBCAST_TRIGGER_APPROVALS: '2',
  })
  assert.equal(code, 9, log)
  assert.equal(read('jobcast-parameters'), undefined)
  const [, runId] = /=(\d+)/.exec(read('jobcast.env') ?? '') ?? []
  const { json: run } = await server.call('GET', `/job/api/runs/${runId}`)
  assert.deepEqual([run.parameters, run.rollout.approval.required], [{ version: '2.10' }, 2])
})

test('a job that does not exist ends with 4, without a run', async (t) => {
  const { code, log, read } = await runScript(t, {
    JOBCAST_TRIGGER_JOB: '$(touch owned)',
    JOBCAST_TRIGGER_GROUP: 'none',
  })
  assert.equal(code, 4, log)
  assert.deepEqual([read('jobcast.env'), read('owned')], [undefined, undefined])
})

test('the guide names every variable of the template', () => {
  const guide = readText('docs/guides/github-actions-without-secrets.md')
  const names = new Set(readText(file).match(/\bJOBCAST_TRIGGER_[A-Z_]+\b/g))
  assert.ok(names.size > 10)
  // Most of them by their end.
  for (const name of names)
    assert.ok(
      [name, name.replace(/^(?:[A-Z]+_){2}/, '_')].some((each) => guide.includes(`\`${each}\``)),
      name,
    )
})
