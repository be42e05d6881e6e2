// Real agents in a process of their own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compileCache } from '@jobcast/testkit/compile-cache'
import { endWithProcess } from '@jobcast/testkit/end-with-process'
import type { AgentOptions } from '../../src/agent.ts'
import { EventLog } from './event-log.ts'

const program = fileURLToPath(new URL('./agent-program.ts', import.meta.url))

/** Options that can be expressed in JSON. */
export type AgentSettings = Omit<AgentOptions, 'readToken' | 'tell' | 'environment'> & { token: string }

export type SpawnedAgents = {
  log: EventLog
  errors(): string
  /** Sends the signal and resolves when the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** The caller must end the process; `onGone` is called when it exits unexpectedly. */
export function spawnAgents(
  settings: AgentSettings[],
  onGone: (message: string) => void = () => undefined,
): SpawnedAgents {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Node warns where NO_COLOR and FORCE_COLOR are both set, and nothing else may be on stderr.
    env: { ...process.env, NO_COLOR: undefined, NODE_COMPILE_CACHE: compileCache },
  })
  endWithProcess(child)
  const gone = once(child, 'close')
  const log = new EventLog()
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  let isEnded = false
  void gone.then(([code, signal]) => {
    if (isEnded) return
    const message = `the agents ended by themselves with ${code ?? signal}:\n${errors}`
    log.fail(message)
    onGone(message)
  })
  createInterface({ input: child.stdout }).on('line', (line) => log.tell(JSON.parse(line)))
  return {
    log,
    errors: () => errors,
    async end(signal) {
      isEnded = true
      child.kill(signal)
      await gone
    },
  }
}
