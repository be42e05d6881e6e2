// Redis, which syncs its log before it responds.

import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { endProcess, removeFolder, startProcess, temporaryFolder } from '../processes.ts'
import { freePort } from './free-port.ts'
import { listens } from './listens.ts'

type Redis = { port: number; end(): Promise<void> }

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).error === undefined
}

export async function startRedis(): Promise<Redis> {
  const folder = temporaryFolder()
  const port = await freePort()
  const settings = {
    bind: '127.0.0.1',
    port,
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = startProcess('redis-server', args, { stdio: 'ignore' })
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error('redis-server did not start')
    await sleep(20)
  }
  return {
    port,
    async end() {
      await endProcess(child)
      removeFolder(folder)
    },
  }
}
