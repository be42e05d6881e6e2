// The agent programs for devices: one for Node, one for each shell of this machine.

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
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
const shells: string[][] = [[firstShell()], ['bash'], ['bash', '--posix'], ['busybox', 'ash'], ['mksh']]

let built: Promise<string> | undefined

/** Once for all files of a process. */
async function buildAgent(): Promise<string> {
  const file = join(newTemporaryFolder(), 'jobcast-agent.cjs')
  await bundle('src/program/main.ts', file)
  return file
}

export async function findPrograms(): Promise<AgentProgram[]> {
  built ??= buildAgent()
  const file = await built
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

/** dash, or the default sh of the machine. */
function firstShell(): string {
  return spawnSync('dash', ['-c', 'true']).status === 0 ? 'dash' : 'sh'
}

function missingOf([program = '', ...words]: string[]): { missing?: string } {
  for (const needed of [program, 'curl', 'setsid'])
    if (spawnSync('sh', ['-c', 'command -v "$1"', 'sh', needed]).status !== 0)
      return { missing: `${needed} is not on this machine` }
  const { status } = spawnSync(program, [...words, '-c', 'true'])
  return status === 0 ? {} : { missing: `${program} has no ${words.join(' ')}` }
}

type RunningProgram = {
  /** Resolves with the exit code when it ends by itself. Without this call, that is a failure. */
  gone(): Promise<number | null>
  printed(): string
  /** Rejects with what it printed if it ends before. */
  until(pattern: RegExp): Promise<void>
  /** Resolves with the exit code, or null after a signal. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const failsafeMs = 90_000
/** curl asks the proxy of the machine for 127.0.0.1 as well. */
export const noProxy = { no_proxy: '127.0.0.1' }

/** The fields of its device that a program needs. */
export type ProgramDevice = Pick<DeviceUnderTest, 'deviceId' | 'token' | 'folder' | 'handlers' | 'fail'>

/** Ended after the test if it still runs. */
export function startProgram(
  t: TestContext,
  { words, isShell }: AgentProgram,
  device: ProgramDevice,
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
    env: { ...process.env, ...noProxy, JOBCAST_URL: url, JOBCAST_POLL_SECONDS: '1', ...env },
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
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  // The last output arrives after the exit; remaining child processes may keep the pipes open for longer.
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let isExpected = false
  void exited.then(async (code) => {
    await Promise.race([closed, delay(1000)])
    if (!isExpected) device.fail(`${words.join(' ')} ended by itself with ${code}:\n${printed}`)
  })
  const gone = () => {
    isExpected = true
    return exited
  }
  const end = (signal: NodeJS.Signals) => {
    const code = gone()
    child.kill(signal)
    return code
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
      const ended = closed.then(() => {
        if (!pattern.test(printed)) throw new Error(`it ended before it printed ${pattern}:\n${printed}`)
      })
      const either = Promise.race([found, ended])
      await within(failsafeMs, () => `not printed: ${pattern}\n${printed}`, either)
    },
    end,
  }
}
