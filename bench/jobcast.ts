// The real program, as an operator runs it: `jobcast serve` with default settings, log lines to a file.

import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readAdminKey } from '@jobcast/server'
import { endProcess, startProcess } from './processes.ts'

const program = fileURLToPath(new URL('../cli/bin/jobcast.js', import.meta.url))

export type Jobcast = {
  port: number
  /** Where devices connect. */
  mqttPort: number
  pid: number
  apiKey: string
  /** SIGKILL by default. */
  end(signal?: NodeJS.Signals): Promise<void>
}

export type JobcastOptions = { flags?: string[]; env?: Record<string, string> }

export async function startJobcast(dataFolder: string, options: JobcastOptions = {}): Promise<Jobcast> {
  const child = spawnJobcast(dataFolder, 0, options)
  const ports = await portsInLog(child, logFile(dataFolder))
  const apiKey = options.env?.JOBCAST_ADMIN_KEY ?? readAdminKey(dataFolder)?.text ?? ''
  return { ...ports, pid: child.pid ?? 0, apiKey, end: (signal) => endProcess(child, signal) }
}

/** How long a start takes until the service is ready. */
export async function timeStart(dataFolder: string, port: number): Promise<number> {
  const begun = performance.now()
  const child = spawnJobcast(dataFolder, port)
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`jobcast ended: see its words above`)
    await sleep(5)
  }
  const ms = performance.now() - begun
  await endProcess(child)
  return ms
}

function spawnJobcast(dataFolder: string, port: number, options: JobcastOptions = {}): ChildProcess {
  const log = openSync(logFile(dataFolder), 'w')
  const ports = ['--port', String(port), '--mqtt-port', '0']
  const { flags = [], env } = options
  // All load comes from one address, some of it without a key, so the rate limits are off.
  const own = ['--data', dataFolder, '--json-log', '--rate', 'address=0,device=0']
  const args = [program, 'serve', ...ports, ...own, ...flags]
  const child = startProcess(process.execPath, args, {
    stdio: ['ignore', log, 'pipe'],
    env: { ...cleanEnv(), ...env },
  })
  closeSync(log)
  child.stderr?.on('data', (text) => {
    if (!String(text).startsWith('Admin API key')) process.stderr.write(text)
  })
  return child
}

const logFile = (dataFolder: string) => join(dataFolder, 'log')

function cleanEnv(): NodeJS.ProcessEnv {
  const ours = ([name]: [string, unknown]) => name === 'DATABASE_URL' || name.startsWith('JOBCAST_')
  return Object.fromEntries(Object.entries(process.env).filter((entry) => !ours(entry)))
}

async function portsInLog(child: ChildProcess, file: string): Promise<Pick<Jobcast, 'port' | 'mqttPort'>> {
  while (child.exitCode === null) {
    const line = readFileSync(file, 'utf8')
      .split('\n')
      .find((text) => text.includes('"msg":"ready"'))
    if (line) {
      const { http, mqtt } = JSON.parse(line)
      return { port: Number(new URL(http).port), mqttPort: Number(new URL(mqtt).port) }
    }
    await sleep(10)
  }
  throw new Error('jobcast did not start: see its words above')
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
  } catch {
    return false // not listening yet
  }
}
