// Resident memory of the packaged agent: idle, and after some executions, over each transport, on each Node of
// JOBCAST_TEST_NODES (paths, separated as in PATH) and on the one that runs this. Linux only.
// npm run bench:agent-memory

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openServer } from '@jobcast/testkit/open-server'
import { buildAgent } from '../agent/build.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

const idleMs = 15_000
const executions = 20
const nodes = [...(process.env.JOBCAST_TEST_NODES ?? '').split(delimiter), process.execPath].filter(Boolean)
const closers: (() => void | Promise<void>)[] = []
const folder = temporaryFolder()
const handlers = join(folder, 'handlers')
mkdirSync(handlers, { mode: 0o755 })
writeFileSync(join(handlers, 'greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 })
await buildAgent(join(folder, 'agent'))
const api = await openServer({ after: (work) => void closers.unshift(work) })
const transports = {
  websocket: ['--url', api.http],
  mqtt: ['--mqtt', api.server.mqtt],
  http: ['--url', api.http, '--http'],
}
await api.putJobAndDevices('greet', [])
await api.call('PUT', '/job/api/jobs/greet', { body: { document: { handler: 'greet' } } })

console.log('node       transport  idle MB  busy MB')
for (const node of nodes) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  for (const [name, flags] of Object.entries(transports)) {
    const { idle, busy } = await measure(node, `${version}-${name}`, flags)
    console.log(version.padEnd(10), name.padEnd(10), idle.toFixed(1).padStart(7), busy.toFixed(1).padStart(8))
  }
}
for (const close of closers) await close()
removeFolder(folder)

async function measure(
  node: string,
  device: string,
  flags: string[],
): Promise<{ idle: number; busy: number }> {
  await api.call('PUT', `/job/api/devices/${device}`, { body: {} })
  const { deviceToken } = (await api.call('POST', `/job/api/devices/${device}/credential`)).json
  const where = ['--device', device, '--handlers', handlers, '--state', join(folder, device)]
  const program = join(folder, 'agent/jobcast-agent.cjs')
  const { PATH = '' } = process.env
  const child = spawn(node, [program, ...where, ...flags], {
    env: { PATH, HOME: folder, JOBCAST_DEVICE_TOKEN: deviceToken },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.stdout.resume()
  await sleep(idleMs)
  const idle = residentMegabytes(child.pid as number)
  for (let count = 0; count < executions; count++) {
    const [{ jobExecutionId }] = (await api.trigger('greet', [device])).json
    for (let state = ''; state !== 'SUCCEEDED'; ) {
      state = (await api.call('GET', `/job/api/executions/${jobExecutionId}?wait=30`)).json.execState
    }
  }
  await sleep(idleMs / 3)
  const busy = residentMegabytes(child.pid as number)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { idle, busy }
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = 'NaN'] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kilobytes) * 1024) / 1e6
}
