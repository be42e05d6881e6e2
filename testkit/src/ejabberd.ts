// A second real broker: Debian's ejabberd with its MQTT 5 module, as a node of its own without a name.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithProcess } from './end-with-process.ts'
import { freePort } from './free-port.ts'
import { listens } from './listens.ts'
import { type Ending, newDataFolder, removeAfter } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

/** Debian's folder of Erlang libraries, which `erl` does not search by itself. */
const libraries = globSync('/usr/lib/{,*/}ejabberd-*/ebin/mod_mqtt.beam')[0]?.replace(/\/ejabberd-.*/, '')

/** For the `skip` of a test: false if ejabberd is installed. */
export const withoutEjabberd: string | false =
  libraries !== undefined && spawnSync('erl', ['-noshell', '-s', 'erlang', 'halt']).status === 0
    ? false
    : 'ejabberd is not installed (Debian: apt-get install ejabberd)'

/** It accepts any user name and password, but nobody without them. */
export async function openEjabberd(t: Ending): Promise<{ url: string }> {
  const folder = newDataFolder()
  removeAfter(t, folder)
  const port = await freePort()
  const child = start(folder, writeSettings(folder, port))
  endWithProcess(child)
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await waitUntil('ejabberd listens', async () => {
    if (child.exitCode !== null) throw new Error('ejabberd did not start')
    return listens(port)
  })
  return { url: `mqtt://127.0.0.1:${port}` }
}

function start(folder: string, settings: string): ChildProcess {
  const env = {
    ...process.env,
    HOME: folder,
    ERL_LIBS: libraries,
    EJABBERD_CONFIG_PATH: settings,
    EJABBERD_LOG_PATH: join(folder, 'log'),
  }
  const words = ['-noinput', '-mnesia', 'dir', JSON.stringify(join(folder, 'database')), '-s', 'ejabberd']
  return spawn('erl', words, { cwd: folder, env, stdio: 'ignore' })
}

function writeSettings(folder: string, port: number): string {
  const anybody = { '#': [{ allow: 'all' }] }
  const settings = {
    hosts: ['localhost'],
    loglevel: 'error',
    auth_method: ['anonymous'],
    anonymous_protocol: 'login_anon',
    allow_multiple_connections: true,
    listen: [{ port, ip: '127.0.0.1', module: 'mod_mqtt', backlog: 1000 }],
    modules: {
      mod_mqtt: { access_publish: anybody, access_subscribe: anybody, max_queue: 'unlimited' },
    },
  }
  const file = join(folder, 'ejabberd.yml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings))
  return file
}
