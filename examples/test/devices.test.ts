// The devices in other languages, against a real server, where their language is installed.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
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

/** How to run it, after a build in an empty folder; a text says what is missing. */
type Language = { name: string; file: string; prepare: (empty: string) => string[] | string }

const succeeds = (program: string, ...words: string[]) =>
  spawnSync(program, words, { encoding: 'utf8', timeout: 120_000 }).status === 0

function build(program: string, words: string[], result: string): string[] {
  const { status, stderr } = spawnSync(program, words, { encoding: 'utf8', timeout: 120_000 })
  assert.equal(status, 0, stderr)
  return [result]
}

const languages: Language[] = [
  {
    name: 'python',
    file: 'device.py',
    prepare() {
      const python = ['python3', '/usr/bin/python3'].find((each) =>
        succeeds(each, '-c', 'import paho.mqtt.client'),
      )
      return python ? [python, fileOf('device.py')] : 'Python with paho-mqtt is not on this machine'
    },
  },
  {
    name: 'c',
    file: 'device.c',
    prepare(empty) {
      if (!succeeds('sh', '-c', 'echo "#include <MQTTClient.h>" | cc -E -'))
        return 'a C compiler with Eclipse Paho (libpaho-mqtt-dev) is not on this machine'
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
      return build('go', ['build', '-o', join(empty, 'device'), fileOf('device.go')], join(empty, 'device'))
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
    const child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    endWithProcess(child)
    t.after(() => child.kill())
    const ended = async (id: number) =>
      (await server.call('GET', `/job/api/executions/${id}?wait=60`)).json.execState
    assert.equal(await within(90_000, 'what waited', ended(waiting)), 'SUCCEEDED')
    const next = (await server.trigger(name, [deviceId])).json[0].jobExecutionId
    assert.equal(await within(90_000, 'what came', ended(next)), 'SUCCEEDED')
  })
}

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
