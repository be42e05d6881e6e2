// The agent as programs that are installed on devices: one for Node, one for each shell of this machine.

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import { newTemporaryFolder } from '@jobcast/testkit/temporary-folder'
import { within } from '@jobcast/testkit/within'
import { bundle } from '../../build.ts'
import type { DeviceUnderTest } from './device-under-test.ts'

export type AgentProgram = {
  name: string
  words: string[]
  isShell: boolean
  isOther: boolean
  missing?: string
}

const script = fileURLToPath(new URL('../../bin/jobcast-agent.sh', import.meta.url))
const shells: string[][] = [['dash'], ['busybox', 'ash'], ['bash', '--posix']]

export async function findPrograms(): Promise<AgentProgram[]> {
  const file = join(newTemporaryFolder(), 'jobcast-agent.mjs')
  await bundle('src/program/main.ts', file)
  const node = { name: 'jobcast-agent', words: [process.execPath, file], isShell: false, isOther: false }
  return [node, ...findShellPrograms()]
}

export function findShellPrograms(): AgentProgram[] {
  return shells.map((shell, index) => ({
    name: `jobcast-agent.sh with ${shell.join(' ')}`,
    words: [...shell, script],
    isShell: true,
    isOther: index > 0,
    ...missingOf(shell),
  }))
}

function missingOf([program = '', ...words]: string[]): { missing?: string } {
  for (const needed of [program, 'curl', 'setsid'])
    if (spawnSync('which', [needed]).status !== 0) return { missing: `${needed} is not on this machine` }
  const { status } = spawnSync(program, [...words, '-c', 'true'])
  return status === 0 ? {} : { missing: `${program} has no ${words.join(' ')}` }
}

export type RunningProgram = {
  gone: Promise<number | null>
  printed(): string
  until(pattern: RegExp): Promise<void>
  /** Resolves with the exit code, or null after a signal. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const failsafeMs = 90_000

/** Ended after the test if it still runs. */
export function startProgram(
  t: TestContext,
  { words, isShell }: AgentProgram,
  device: DeviceUnderTest,
  url: string,
  env: Record<string, string> = {},
  tokenMode = 0o600,
): RunningProgram {
  const tokenFile = join(device.folder, 'token')
  writeFileSync(tokenFile, `${device.token}\n`)
  chmodSync(tokenFile, tokenMode)
  const [command = '', ...rest] = words
  const flags = ['--device', device.deviceId, '--token-file', tokenFile, '--handlers', device.handlers]
  const state = join(device.folder, isShell ? 'state-sh' : 'state')
  const child = spawn(command, [...rest, ...flags, '--state', state], {
    env: { ...process.env, JOBCAST_URL: url, JOBCAST_POLL_SECONDS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithProcess(child)
  let printed = ''
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk
      for (const watcher of watchers) watcher()
    })
  }
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return gone
  }
  t.after(() => end('SIGKILL'))
  return {
    gone,
    printed: () => printed,
    async until(pattern) {
      const found = new Promise<void>((resolve) => {
        const look = () => pattern.test(printed) && resolve()
        watchers.add(look)
        look()
      })
      await within(failsafeMs, () => `not printed: ${pattern}\n${printed}`, found)
    },
    end,
  }
}
