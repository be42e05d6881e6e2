// The real program in a separate process that can be killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { readAdminKey } from '@jobcast/server'
import { type Api, buildApi } from './call-api.ts'
import { compileCache } from './compile-cache.ts'
import { endWithProcess } from './end-with-process.ts'
import { program } from './program.ts'
import { within } from './within.ts'

/** A failsafe, far above the time of a start. */
const startMs = 300_000

type Ended = { code: number | null; signal: NodeJS.Signals | null }

export type SpawnedServer = Api & {
  /** Where devices connect. */
  mqtt: string
  pid: number
  process: ChildProcess
  /** Log lines so far, and the text on stderr. */
  output: { lines: string[]; errors: string }
  /** Sends the signal and resolves with exit code and signal once the process is gone. */
  end(signal: NodeJS.Signals): Promise<Ended>
}

export type SpawnOptions = {
  flags?: string[]
  env?: Record<string, string>
  /** A program with arguments that starts the command. */
  before?: string[]
  /** Starts another program instead of the tested one. */
  program?: string
}

/** Resolves when the server has printed its ready line. The caller must end it. */
export function spawnServer(dataFolder: string, ...flags: string[]): Promise<SpawnedServer> {
  return startProgram(dataFolder, { flags }).ready
}

/** Like spawnServer, but returns the process at once, so that it can be killed during its start. */
export function startProgram(
  dataFolder: string,
  { flags = [], env = {}, before = [], program: other = program }: SpawnOptions = {},
): { ready: Promise<SpawnedServer>; end: SpawnedServer['end'] } {
  const ports = ['--port', '0', '--mqtt-port', '0']
  const common = ['--data', dataFolder, '--json-log', '--metrics-on-api']
  const serve = [other, 'serve', ...ports, ...common, ...flags]
  const [command = '', ...words] = [...before, process.execPath, ...serve]
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment(), DATABASE_URL: '', NODE_COMPILE_CACHE: compileCache, ...env },
  })
  endWithProcess(child)
  const output = { lines: [] as string[], errors: '' }
  child.stderr.on('data', (chunk) => {
    output.errors += chunk
  })
  // Not 'exit', because the last output may still arrive after it.
  const gone = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code, by] = await gone
    return { code, signal: by }
  }
  const written = () => [...output.lines, output.errors].join('\n')
  const ready = new Promise<SpawnedServer>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.lines.push(line)
      const entry = line.startsWith('{') ? JSON.parse(line) : {}
      if (entry.msg !== 'ready') return
      const adminKey = env.JOBCAST_ADMIN_KEY ?? readAdminKey(dataFolder)?.text ?? ''
      const { http, mqtt } = entry
      const pid = child.pid as number
      resolve({ ...buildApi(http, adminKey), mqtt, pid, process: child, output, end })
    })
    gone.then(() => reject(new Error(`the server did not start: ${written()}`)), reject)
  })
  return { ready: within(startMs, () => `the server is not ready; it wrote: ${written()}`, ready), end }
}

/** Removes settings of Jobcast from the environment of the developer's shell. */
function environment(): NodeJS.ProcessEnv {
  const isSetting = (name: string) => /^(JOBCAST_(?!TEST_)|OTEL_)/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name)))
}
