// Completion of names of the service, by the command that scripts call, and by the shells that are here.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { program } from '@jobcast/testkit/program'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { cleanEnv, dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const { key } = await server.newOwner('completion')
// The time limit is for people: on a busy machine it would decide whether there are names.
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: key, JOBCAST_COMPLETION_SECONDS: '60' }
const evil = 'x $(touch pwned) `touch pwned`'

async function put(path: string, body: object) {
  const reply = await server.call('PUT', `/job/api/${path}`, { key, body })
  assert.ok(reply.status < 300, reply.text)
}

await put('jobs/restart', { document: {} })
await put('jobs/rescue', { document: {} })
await put(`jobs/${encodeURIComponent(evil)}`, { document: {} })
await put('devices/kiosk-1', {})
await put('devices/kiosk-2', {})
await put('devices/gate-1', {})
await put('groups/kiosks', { where: 'deviceId~kiosk-*' })
await put('windows/nights', { cron: '0 2 * * *', durationMinutes: 60, timeZone: 'UTC' })
await put('schedules/nightly', {
  jobName: 'restart',
  targets: { group: 'kiosks' },
  when: { cron: '0 3 1 1 *', timeZone: 'UTC' },
})
assert.equal((await server.trigger('restart', ['kiosk-1'], { key })).status, 201)
const [{ runId }] = (await server.call('GET', '/job/api/runs', { key })).json.items

const complete = async (...words: string[]) => {
  const { code, stdout, stderr } = await runJobcast(['complete-names', ...words], access)
  assert.deepEqual([code, stderr], [0, ''])
  return stdout.split('\n').filter(Boolean)
}

test('names of every kind that begin as typed', async () => {
  const cases: [words: string[], names: string[]][] = [
    [
      ['jobs', 'res'],
      ['rescue', 'restart'],
    ],
    [['jobs', 'x\\ $'], [evil]],
    [
      ['devices', 'kiosk-'],
      ['kiosk-1', 'kiosk-2'],
    ],
    [
      ['devices', ''],
      ['gate-1', 'kiosk-1', 'kiosk-2'],
    ],
    [['devices', 'kiosk-1 or tag=x'], []],
    [['groups', 'k'], ['kiosks']],
    [['windows'], ['nights']],
    [['schedules', 'n'], ['nightly']],
    [['webhooks', ''], []],
    [['runs', ''], [String(runId)]],
    [['nothing', ''], []],
  ]
  for (const [words, names] of cases)
    assert.deepEqual((await complete(...words)).sort(), names, words.join(' '))
})

test('an address or a profile among the typed words counts', async () => {
  assert.deepEqual(await complete('jobs', 'restart', '--', 'trigger', '--url', 'http://127.0.0.1:1'), [])
  assert.deepEqual(await complete('jobs', 'restart', '--', 'trigger', '--url', '=', 'http://127.0.0.1:1'), [])
  assert.deepEqual(await complete('jobs', 'restart', '--', 'trigger', `--url=${server.http}`), ['restart'])
})

test('without a key, with a wrong one, and of a server that does not respond there are none, and no message', async (t) => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const { port } = silent.address() as { port: number }
  const environments: Record<string, string>[] = [
    { JOBCAST_URL: server.http },
    { ...access, JOBCAST_API_KEY: 'jc_wrong' },
    { ...access, JOBCAST_URL: 'nonsense' },
    { ...access, JOBCAST_URL: `http://127.0.0.1:${port}`, JOBCAST_COMPLETION_SECONDS: '0.2' },
  ]
  for (const env of environments)
    assert.deepEqual(await runJobcast(['complete-names', 'jobs', ''], env), {
      code: 0,
      stdout: '',
      stderr: '',
    })
})

test('help does not list the command', async () => {
  const { stdout } = await runJobcast(['--help'])
  assert.match(stdout, /completion/)
  assert.doesNotMatch(stdout, /complete-names/)
})

/** A folder with the program on its PATH, and the script of a shell. */
async function openShell(t: TestContext, shell: string) {
  const folder = dataFolder(t)
  writeFileSync(join(folder, 'jobcast'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(join(folder, 'jobcast'), 0o755)
  writeFileSync(join(folder, 'script'), (await runJobcast(['completion', shell])).stdout)
  const env = { ...cleanEnv(), ...access, HOME: folder, PATH: `${folder}:${process.env.PATH}` }
  return {
    folder,
    async run(...args: string[]): Promise<string[]> {
      const { stdout } = await promisify(execFile)(shell, args, { cwd: folder, env })
      return stdout.split('\n').filter(Boolean)
    },
  }
}

test('bash completes names of arguments and flags, quoted, and runs nothing of them', async (t) => {
  const { folder, run } = await openShell(t, 'bash')
  const typed = (words: string[]) =>
    run(
      '-c',
      'source ./script; COMP_WORDS=(jobcast "$@"); COMP_CWORD=$#; _jobcast; printf "%s\\n" "${COMPREPLY[@]}"',
      'bash',
      ...words,
    )
  assert.deepEqual(await typed(['trigger', 'res']), ['rescue', 'restart'])
  assert.deepEqual(await typed(['trigger', 'restart', '--device', 'kiosk-']), ['kiosk-1', 'kiosk-2'])
  const [quoted = ''] = await typed(['jobs', 'get', 'x'])
  assert.equal(existsSync(join(folder, 'pwned')), false)
  // What is put on the line is one word, which is the name.
  assert.deepEqual(await run('-c', `printf '%s\\n' ${quoted}`), [evil])
  assert.equal(existsSync(join(folder, 'pwned')), false)
  // By npx, which has to be told not to fetch it.
  const npx = `[ "$1" = --no-install ] && shift && exec "$@"`
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${npx}\n`, { mode: 0o755 })
  const typedByNpx =
    'source ./script; COMP_WORDS=(npx "$@"); COMP_CWORD=$#; _jobcast_npx; printf "%s\\n" "${COMPREPLY[@]}"'
  const words = ['--no-install', 'jobcast', 'trigger', 'res']
  assert.deepEqual(await run('-c', typedByNpx, 'bash', ...words), ['rescue', 'restart'])
  // A flag is none, and where there are no names there are flags.
  assert.deepEqual(await typed(['jobs', 'get', '--ur']), ['--url'])
  assert.ok((await typed(['webhooks', 'get', ''])).includes('--json'))
})

/** Each completion starts the program, so `npm test` tries one shell. */
function without(shell: string): string | false {
  if (!isChaos) return 'npm run test:chaos tries it'
  return spawnSync(shell, ['--version']).error === undefined ? false : `there is no ${shell} here`
}

test('fish completes names', { skip: without('fish') }, async (t) => {
  const { run } = await openShell(t, 'fish')
  const typed = async (line: string) =>
    // Behind a tab stands what it is.
    (await run('--no-config', '-c', `source ./script; complete -C '${line}'`)).map(
      (found) => found.split('\t')[0],
    )
  assert.deepEqual(await typed('jobcast trigger res'), ['rescue', 'restart'])
  assert.deepEqual(await typed('jobcast executions --device kiosk-'), ['kiosk-1', 'kiosk-2'])
})

test('zsh completes names, and runs nothing of them', {
  skip: without('zsh'),
}, async (t) => {
  const { folder, run } = await openShell(t, 'zsh')
  // As the completion system calls it, with what it would show printed.
  const shown = `compdef() { }; _describe() { print -l -- "\${(@P)2}" }
    compadd() { if [[ $1 == -a ]]; then print -rl -- "\${(@P)2}"; else shift; print -rl -- "$@"; fi }`
  const typed = (...words: string[]) =>
    run(
      '-f',
      '-c',
      `${shown}; words=(jobcast "$@"); CURRENT=$#words; PREFIX=$words[CURRENT]; source ./script; _jobcast`,
      'zsh',
      ...words,
    )
  assert.deepEqual(await typed('trigger', 'res'), ['rescue', 'restart'])
  assert.deepEqual(await typed('trigger', 'restart', '--device', 'kiosk-'), ['kiosk-1', 'kiosk-2'])
  assert.deepEqual(await typed('jobs', 'get', 'x'), [evil])
  assert.equal(existsSync(join(folder, 'pwned')), false)
  assert.ok((await typed('webhooks', 'get', '')).some((found) => found.startsWith('--json')))
})
