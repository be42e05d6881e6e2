// A real broker of the user: Debian's mosquitto, with persistence, on a port that stays the same when it starts again.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { endWithProcess } from './end-with-process.ts'
import { freePort } from './free-port.ts'
import { type Ending, newDataFolder, removeAfter } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

// Debian puts it where only root's PATH looks.
const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`
const env = { ...process.env, PATH: path }

const passwords = 'passwords'

/** For the `skip` of a test: false where it is installed. */
export const withoutMosquitto: string | false =
  spawnSync('mosquitto', ['-h'], { env }).error === undefined
    ? false
    : 'mosquitto is not installed (Debian: apt-get install mosquitto)'

/** The part of it that refuses subscriptions: an ACL file only withholds messages. Undefined: it is not there. */
export const dynamicSecurity: string | undefined = globSync(
  '/usr/{lib,lib64,lib/*,local/lib}/mosquitto_dynamic_security.so',
)[0]

export type Mosquitto = {
  readonly url: string
  /** Ends it; with SIGKILL it loses what it has not saved. */
  end(signal: NodeJS.Signals): Promise<void>
  /** On the same port, with what it has saved. */
  start(): Promise<void>
  /** From now on, for whoever signs in. */
  setPassword(user: string, password: string): void
}

export type MosquittoOptions = {
  /** Lines of an ACL file, and users with a password each. */
  acl?: string[]
  users?: Record<string, string>
  /** Further lines of its configuration. */
  settings?: string[]
}

export async function openMosquitto(t: Ending, options: MosquittoOptions = {}): Promise<Mosquitto> {
  const folder = newDataFolder()
  removeAfter(t, folder)
  const port = await freePort()
  const file = writeSettings(folder, port, options)
  let child: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals) => {
    const ending = child
    child = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = once(ending, 'exit')
    ending.kill(signal)
    await gone
  }
  const start = async () => {
    const started = spawn('mosquitto', ['-c', file], { env, stdio: 'ignore' })
    child = started
    endWithProcess(started)
    await waitUntil('mosquitto listens', async () => {
      if (started.exitCode !== null) throw new Error('mosquitto did not start')
      return listens(port)
    })
  }
  const setPassword = (user: string, password: string) => {
    writePassword(folder, user, password)
    child?.kill('SIGHUP')
  }
  t.after(() => end('SIGKILL'))
  await start()
  return { url: `mqtt://127.0.0.1:${port}`, end, start, setPassword }
}

function writeSettings(
  folder: string,
  port: number,
  { acl, users, settings = [] }: MosquittoOptions,
): string {
  const lines = [
    `listener ${port} 127.0.0.1`,
    `allow_anonymous ${users === undefined}`,
    'persistence true',
    `persistence_location ${folder}/`,
    'autosave_interval 1',
    'autosave_on_changes true',
    'log_type none',
    // Else it would give up root, and could not write to this folder.
    ...(process.getuid?.() === 0 ? ['user root'] : []),
    ...settings,
  ]
  if (acl) {
    const aclFile = join(folder, 'acl')
    writeFileSync(aclFile, `${acl.join('\n')}\n`, { mode: 0o600 })
    lines.push(`acl_file ${aclFile}`)
  }
  if (users) {
    writeFileSync(join(folder, passwords), '', { mode: 0o600 })
    for (const [user, password] of Object.entries(users)) writePassword(folder, user, password)
    lines.push(`password_file ${join(folder, passwords)}`)
  }
  const file = join(folder, 'mosquitto.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

function writePassword(folder: string, user: string, password: string): void {
  spawnSync('mosquitto_passwd', ['-b', join(folder, passwords), user, password], { env })
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
