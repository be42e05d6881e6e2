// The real program in a process of its own, to be killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readAdminKey } from '../../src/index.ts'
import { type Api, buildApi } from './call-api.ts'

const program = fileURLToPath(new URL('../../../cli/bin/jobcast.js', import.meta.url))

export type SpawnedServer = Api & {
  pid: number
  process: ChildProcess
  /** Log lines so far, and what was said on stderr. */
  output: { lines: string[]; errors: string }
  /** Sends the signal and resolves with exit code and signal once the process is gone. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Resolves when the ready line is there. Whoever spawns must end it. */
export async function spawnServer(dataFolder: string, ...flags: string[]): Promise<SpawnedServer> {
  const child = spawn(
    process.execPath,
    [program, 'serve', '--port', '0', '--data', dataFolder, '--json-log', ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, DATABASE_URL: '' } },
  )
  const output = { lines: [] as string[], errors: '' }
  child.stderr.on('data', (chunk) => {
    output.errors += chunk
  })
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const http = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.lines.push(line)
      const entry = line.startsWith('{') ? JSON.parse(line) : {}
      if (entry.msg === 'ready') resolve(entry.http)
    })
    void gone.then(() => reject(new Error(`the server did not start: ${output.errors}`)))
  })
  return {
    ...buildApi(http, readAdminKey(dataFolder)?.text ?? ''),
    pid: child.pid as number,
    process: child,
    output,
    async end(signal) {
      child.kill(signal)
      const [code, by] = await gone
      return { code, signal: by }
    },
  }
}
