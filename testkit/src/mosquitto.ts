// A real broker: Debian's mosquitto, with persistence, on a port that stays the same across restarts.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithProcess } from './end-with-process.ts'
import { freePort } from './free-port.ts'
import { listens } from './listens.ts'
import { type Ending, newDataFolder, removeAfter } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

// Debian installs it in a folder that only root has in its PATH.
const path = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`
const env = { ...process.env, PATH: path }

const passwords = 'passwords'

/** For the `skip` of a test: false if mosquitto is installed. */
export const withoutMosquitto: string | false =
  spawnSync('mosquitto', ['-h'], { env }).error === undefined
    ? false
    : 'mosquitto is not installed (Debian: apt-get install mosquitto)'

/** The plugin that refuses subscriptions; an ACL file only withholds messages. Undefined if it is not installed. */
export const dynamicSecurity: string | undefined = globSync(
  '/usr/{lib,lib64,lib/*,local/lib}/mosquitto_dynamic_security.so',
)[0]

export type Mosquitto = {
  readonly url: string
  /** Ends the broker; with SIGKILL it loses unsaved data. */
  end(signal: NodeJS.Signals): Promise<void>
  /** Starts it on the same port, with its saved data. */
  start(): Promise<void>
  /** Takes effect for later sign-ins. */
  setPassword(user: string, password: string): void
  /** Takes effect at its next start. */
  setCertificate(certificate: ServerCertificate): void
}

/** Paths of PEM files. */
type ServerCertificate = { cert: string; key: string }

export type MosquittoOptions = {
  /** Lines of an ACL file; users with their passwords. */
  acl?: string[]
  users?: Record<string, string>
  /** Listens with TLS. With the authority of clients, they need a certificate, whose CN is their user name. */
  tls?: ServerCertificate & { clientCa?: string }
  /** Further lines of its configuration. */
  settings?: string[]
}

export async function openMosquitto(t: Ending, options: MosquittoOptions = {}): Promise<Mosquitto> {
  const folder = newDataFolder()
  removeAfter(t, folder)
  const port = await freePort()
  let file = writeSettings(folder, port, options)
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
  const setCertificate = (certificate: ServerCertificate) => {
    file = writeSettings(folder, port, { ...options, tls: { ...options.tls, ...certificate } })
  }
  t.after(() => end('SIGKILL'))
  await start()
  const url = `${options.tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`
  return { url, end, start, setPassword, setCertificate }
}

function writeSettings(
  folder: string,
  port: number,
  { acl, users, tls, settings = [] }: MosquittoOptions,
): string {
  const lines = [
    `listener ${port} 127.0.0.1`,
    `allow_anonymous ${users === undefined && tls?.clientCa === undefined}`,
    ...(tls ? tlsLines(tls) : []),
    'persistence true',
    `persistence_location ${folder}/`,
    'autosave_interval 1',
    'autosave_on_changes true',
    'log_type none',
    // Otherwise mosquitto would drop root privileges and could not write to this folder.
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

function tlsLines({ cert, key, clientCa }: NonNullable<MosquittoOptions['tls']>): string[] {
  const lines = [`certfile ${cert}`, `keyfile ${key}`]
  if (clientCa === undefined) return lines
  return [...lines, `cafile ${clientCa}`, 'require_certificate true', 'use_identity_as_username true']
}

function writePassword(folder: string, user: string, password: string): void {
  spawnSync('mosquitto_passwd', ['-b', join(folder, passwords), user, password], { env })
}
