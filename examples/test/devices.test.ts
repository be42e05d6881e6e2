// The devices in other languages, with a real server, if their language is installed.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { within } from '@jobcast/testkit/within'

const server = await openSharedServer()
const folder = join(import.meta.dirname, '..')
const fileOf = (name: string) => join(folder, name)

const isCi = !['', '0', 'false'].includes(process.env.CI ?? '')

/** How to run it, after a build in an empty folder; a text says what is missing. */
type Language = { name: string; file: string; prepare: (empty: string) => string[] | string }

const succeeds = (program: string, ...words: string[]) =>
  spawnSync(program, words, { encoding: 'utf8', timeout: 120_000 }).status === 0

/** CI's machine has these: without one, nothing would say there that an example is never tried. */
function missing(what: string): string {
  if (isCi) assert.fail(`${what} is not on this machine, and in CI it must be`)
  return `${what} is not on this machine`
}

function build(program: string, words: string[], result: string, env: Record<string, string> = {}): string[] {
  const options = { encoding: 'utf8', timeout: 240_000, env: { ...process.env, ...env } } as const
  const { status, stderr, error } = spawnSync(program, words, options)
  assert.equal(status, 0, stderr || String(error))
  return [result]
}

const languages: Language[] = [
  {
    name: 'python',
    file: 'device.py',
    prepare() {
      const pythons = ['python3', '/usr/bin/python3'].filter((each) => succeeds(each, '--version'))
      if (pythons.length === 0) return missing('Python 3')
      const python = pythons.find((each) => succeeds(each, '-c', 'import paho.mqtt.client'))
      return python ? [python, fileOf('device.py')] : 'paho-mqtt for Python is not on this machine'
    },
  },
  {
    name: 'c',
    file: 'device.c',
    prepare(empty) {
      if (!succeeds('cc', '--version')) return missing('a C compiler')
      if (!succeeds('sh', '-c', 'echo "#include <MQTTClient.h>" | cc -E -'))
        return 'Eclipse Paho for C (libpaho-mqtt-dev) is not on this machine'
      const result = join(empty, 'device')
      const warnings = ['-Wall', '-Wextra', '-Werror']
      return build('cc', [...warnings, '-o', result, fileOf('device.c'), '-lpaho-mqtt3c'], result)
    },
  },
  {
    name: 'go',
    file: 'device.go',
    prepare(empty) {
      if (!succeeds('go', 'version')) return 'Go is not on this machine'
      const result = join(empty, 'device')
      // There may be no home to keep a cache in.
      return build('go', ['build', '-o', result, fileOf('device.go')], result, {
        GOCACHE: join(empty, 'cache'),
      })
    },
  },
]

for (const { name, file, prepare } of languages) {
  test(`${file} takes what waits and what comes, and reports it`, async (t) => {
    const command = prepare(temporaryFolder(t))
    if (typeof command === 'string') return t.skip(command)
    const deviceId = `in-${name}`
    await server.call('PUT', `/job/api/devices/${deviceId}`, { body: {} })
    const { deviceToken } = (await server.call('POST', `/job/api/devices/${deviceId}/credential`)).json
    await server.call('PUT', `/job/api/jobs/${name}`, { body: { document: { do: 'something' } } })
    const waiting = (await server.trigger(name, [deviceId])).json[0].jobExecutionId
    const [program = '', ...words] = command
    const { hostname, port } = new URL(server.server.mqtt)
    const device = { DEVICE: deviceId, TOKEN: deviceToken }
    const env = { ...process.env, URL: server.http, HOST: hostname, MQTT_PORT: port, ...device }
    const child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    endWithProcess(child)
    t.after(() => child.kill())
    let errors = ''
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    const gone = once(child, 'close').then(([code, signal]) =>
      assert.fail(`${file} ended with ${code ?? signal}:\n${errors}`),
    )
    gone.catch(() => undefined)
    const ended = async (id: number) => {
      for (;;) {
        const { json } = await server.call('GET', `/job/api/executions/${id}?wait=30`)
        if (!['PENDING', 'IN_PROGRESS'].includes(json.execState)) return json.execState
      }
    }
    const stateOf = (id: number) =>
      within(240_000, () => `it has not ended:\n${errors}`, Promise.race([ended(id), gone]))
    assert.equal(await stateOf(waiting), 'SUCCEEDED')
    const next = (await server.trigger(name, [deviceId])).json[0].jobExecutionId
    assert.equal(await stateOf(next), 'SUCCEEDED')
  })
}

test('device.py can be read by Python', (t) => {
  if (!succeeds('python3', '--version')) return t.skip(missing('Python 3'))
  const read = 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read())'
  const { status, stderr } = spawnSync('python3', ['-c', read, fileOf('device.py')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

test('device.ino can be compiled', (t) => {
  if (!succeeds('c++', '--version')) return t.skip('a C++ compiler is not on this machine')
  const flags = ['-std=c++17', '-fsyntax-only', '-Wall', '-Werror', '-x', 'c++']
  const libraries = `-I${join(import.meta.dirname, 'arduino')}`
  const { status, stderr } = spawnSync('c++', [...flags, libraries, fileOf('device.ino')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
})

test('each is short enough to be read at once', () => {
  for (const file of [...languages.map((each) => each.file), 'device.ino'])
    assert.ok(readFileSync(fileOf(file), 'utf8').split('\n').length <= 55, file)
})
