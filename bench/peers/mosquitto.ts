// mosquitto, without persistence, and with room for all devices.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endProcess, removeFolder, startProcess, temporaryFolder } from '../processes.ts'
import { freePort } from './free-port.ts'
import { listens } from './listens.ts'

export type Mosquitto = { port: number; pid: number; end(): Promise<void> }

export function hasMosquitto(): boolean {
  return spawnSync('mosquitto', ['-h']).error === undefined
}

export async function startMosquitto(more: string[] = []): Promise<Mosquitto> {
  const folder = temporaryFolder()
  const port = await freePort()
  const settings = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'max_queued_messages 0',
    'log_type none',
    'user root',
    ...more,
  ]
  const file = join(folder, 'mosquitto.conf')
  writeFileSync(file, `${settings.join('\n')}\n`)
  const child = startProcess('mosquitto', ['-c', file], { stdio: 'ignore' })
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error('mosquitto did not start')
    await sleep(20)
  }
  return {
    port,
    pid: child.pid ?? 0,
    async end() {
      await endProcess(child)
      removeFolder(folder)
    },
  }
}
