// jobcast-agent.sh with a server that sends arbitrary responses, in each shell: only the signed command runs, no file is
// written outside of the state folder, and the agent continues working.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { newAuthor } from '@jobcast/testkit/author'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { isChaos, longTest, testSize } from '@jobcast/testkit/test-size'
import { type Attack, hostileTexts, openHostileServer, someAttacks } from './support/hostile-server.ts'
import {
  type AgentProgram,
  findShellPrograms,
  noProxy,
  type ProgramDevice,
  startProgram,
} from './support/programs.ts'

const author = newAuthor()
const jobName = 'genuine'
const document = { handler: 'mark', args: ['signed'] }
const parameters = { type: 'object', properties: { text: { type: 'string' } } }
const envelope = author.sign({ jobName, version: 1, document, parameters })
const attacks = testSize('attacks', { test: 10, chaos: 60 })
const agents = testSize('agents', { test: 2, chaos: 10 })
/** A response, and the agent's copies in other files. */
const maxStateBytes = 24 * 1024 * 1024
const token = `jd_${'A'.repeat(48)}`

type Scene = { device: ProgramDevice; canaries: string; env: Record<string, string>; marks: string }

/** `lasts`: seconds for which the handler runs, so that the agent checks it meanwhile. */
function newScene(t: TestContext, lasts: number): Scene {
  const folder = temporaryFolder(t)
  const [canaries, handlers, home, marks] = ['canaries', 'handlers', 'home', 'marks'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  for (const each of [canaries, handlers, home]) mkdirSync(each, { mode: 0o755 })
  writeFileSync(
    join(handlers, 'mark'),
    `#!/bin/sh\necho "$@" >>"${marks}"; echo output; echo "::progress 5 text"; sleep ${lasts}\n`,
    {
      mode: 0o755,
    },
  )
  const trustFile = join(folder, 'trusted.pem')
  writeFileSync(trustFile, author.publicPem, { mode: 0o644 })
  const device = { deviceId: 'd', token, folder, handlers, fail: () => undefined }
  const env = { HOME: home, TMPDIR: home, JOBCAST_TRUST: trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  return { device, canaries, env, marks }
}

/** Every file outside of the state folder, with its content. */
function snapshot(folder: string): Record<string, string> {
  const files: Record<string, string> = {}
  const walk = (at: string) => {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (path === 'state-sh' || path === 'marks' || path === 'token') continue
      if (entry.isDirectory()) walk(path)
      files[path] = entry.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(folder, path)))
            .digest('hex')
        : ''
    }
  }
  walk('')
  return files
}

function sizeOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
  return paths.filter((path) => existsSync(path)).reduce((sum, path) => sum + statSync(path).size, 0)
}

async function attack(
  t: TestContext,
  program: AgentProgram,
  scene: Scene,
  list: readonly Attack[],
): Promise<void> {
  const { device, env, marks } = scene
  const before = snapshot(device.folder)
  const server = await openHostileServer({ jobName, document, envelope }, list)
  t.after(() => server.close())
  const agent = startProgram(t, program, device, server.http, env)
  const ended = agent.gone().then((code) => {
    throw new Error(`the agent has ended with ${code}:\n${agent.printed()}`)
  })
  await Promise.race([server.done, ended])
  ended.catch(() => undefined)
  await agent.end('SIGKILL')
  assert.deepEqual(snapshot(device.folder), before, JSON.stringify(list))
  assert.match(readFileSync(marks, 'utf8'), /^(?:signed\n)+$/)
  assert.ok(sizeOf(join(device.folder, 'state-sh')) < maxStateBytes)
}

const known: Attack[] = [
  ...['offset', 'cut'].map((name) => ({
    route: 'output' as const,
    path: [name],
    value: 'PATH[$(touch CANARY)]',
  })),
  { route: 'report', path: ['executionState', 'versionNumber'], value: 'PATH[$(touch CANARY)]' },
  { route: 'next', path: ['execution', 'executionNumber'], value: 'PATH[$(touch CANARY)]' },
  { route: 'next', path: ['execution', 'jobId'], value: '../../../canaries/x' },
  { route: 'next', path: ['execution', 'parameters', 'text'], value: "'$(touch CANARY)`touch CANARY`'\n" },
]

for (const program of findShellPrograms()) {
  const skip = program.missing ?? false
  // The arithmetic of bash and mksh runs commands, so these are always tried with what was found once.
  test(`${program.name} runs no command that is hidden in a number`, { skip }, async (t) => {
    const scene = newScene(t, 3)
    const list = known.map(({ value, ...rest }) => ({
      ...rest,
      value: String(value).replaceAll('CANARY', join(scene.canaries, 'x')),
    }))
    await attack(t, program, scene, isChaos ? list : list.slice(0, 1))
  })
  if (program.isOther && !isChaos) continue
  test(`${program.name} runs no command from any response (seed ${testSeed})`, {
    ...longTest,
    skip,
  }, async (t) => {
    const random = seededRandom(testSeed)
    const all = Array.from({ length: agents }, (_, index) => {
      const scene = newScene(t, index % 2 === 0 ? 0 : 2)
      return attack(t, program, scene, someAttacks(random, scene.canaries, Math.ceil(attacks / agents)))
    })
    await Promise.all(all)
  })
  test(`${program.name} accepts only valid tokens, from the server and from its file`, { skip }, (t) =>
    takesNoOther(t, program),
  )
}

async function takesNoOther(t: TestContext, program: AgentProgram): Promise<void> {
  const scene = newScene(t, 0)
  const { folder, deviceId } = scene.device
  const before = snapshot(folder)
  const texts = hostileTexts(scene.canaries).filter(
    (text) => text.startsWith('jd_') || /[$`]\(|output/.test(text),
  )
  for (const value of [
    ...texts.slice(0, isChaos ? texts.length : 2),
    `${token}\noutput = "x"`,
    `${token}x`,
    [token],
  ]) {
    const server = await openHostileServer({ jobName, document, envelope }, [
      { route: 'enroll', path: ['deviceToken'], value },
    ])
    const [command = '', ...words] = program.words
    const tokenFile = join(folder, 'issued')
    const flags = ['enroll', '--url', server.http, '--device', deviceId, '--token-file', tokenFile]
    const env = { ...process.env, ...noProxy, ...scene.env, JOBCAST_ENROLLMENT_TOKEN: `je_${'B'.repeat(48)}` }
    const enrolled = promisify(execFile)(command, [...words, ...flags], { env, cwd: join(folder, 'home') })
    await assert.rejects(enrolled, /is not a device token/, String(value))
    server.close()
    assert.equal(existsSync(tokenFile), false)
    if (typeof value !== 'string') continue
    const agent = startProgram(t, program, { ...scene.device, token: value }, server.http, scene.env)
    assert.equal(await agent.gone(), 2, agent.printed())
    await agent.until(/there is no device token/)
  }
  const { 'issued.claim': _, ...after } = snapshot(folder)
  assert.deepEqual(after, before)
}
