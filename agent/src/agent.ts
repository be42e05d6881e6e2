// An agent from its start to its stop: builds its parts and hands them to each other.

import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { readBootId } from './boot-id.ts'
import type { Tell } from './events.ts'
import { HttpTransport } from './http-transport.ts'
import { Journal } from './journal.ts'
import { MqttTransport } from './mqtt-transport.ts'
import { type Backoff, defaultBackoff } from './reconnect-delay.ts'
import { recover } from './recover.ts'
import { StartRefused } from './start-refused.ts'
import { openStateFolder, type StateFolder } from './state-folder.ts'
import { workLoop } from './work-loop.ts'

export type AgentOptions = {
  deviceId: string
  /** The way to the server: of HTTP its address without a path. */
  server: { by: 'mqtt' | 'http'; url: string }
  /** Asked at every sign-in, so that a token that was replaced is found without a restart. */
  readToken: () => string
  handlersFolder: string
  stateFolder: string
  allowCommands: boolean
  /** As much as the server keeps of one attempt. */
  maxOutputBytes?: number
  /** From TERM to KILL, when something is ended. */
  graceMs?: number
  backoff?: Backoff
  /** How often an agent by HTTP looks whether what it does is still wanted. */
  lookEveryMs?: number
  /** Of this boot of the machine: an execution that waits for a reboot goes on when it is another. */
  bootId?: string
  /** What handlers inherit, but for JOBCAST_…. */
  environment?: NodeJS.ProcessEnv
  tell?: Tell
}

export type RunningAgent = {
  /** Ends what runs, tells the server if it is there, and resolves when all is quiet. May be called twice. */
  stop(): Promise<void>
}

export const defaultMaxOutputBytes = 10 * 1024 * 1024
const defaultGraceMs = 5000
/** So long a stop waits for the server to hear how it ended; else it is told after the next start. */
const lastWordsMs = 3000

/** Throws StartRefused for what a person can mend. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { deviceId, server, readToken, backoff = defaultBackoff } = options
  // Handlers run in folders of their own, where a relative path would lead elsewhere.
  const handlersFolder = resolve(options.handlersFolder)
  const tell = options.tell ?? (() => undefined)
  if (process.platform === 'win32') throw new StartRefused('The agent needs a system with process groups.')
  await checkHandlersFolder(handlersFolder)
  const state = await openStateFolder(resolve(options.stateFolder))
  const journal = await openJournal(state, tell)
  const link = { url: server.url, deviceId, readToken, backoff, tell }
  const transport =
    server.by === 'mqtt'
      ? new MqttTransport(link)
      : new HttpTransport({ ...link, ...(options.lookEveryMs && { lookEveryMs: options.lookEveryMs }) })
  const stopping = new AbortController()
  const closing = new AbortController()
  const deps = {
    deviceId,
    transport,
    backoff,
    journal,
    state,
    bootId: options.bootId ?? readBootId(),
    graceMs: options.graceMs ?? defaultGraceMs,
    environment: options.environment ?? process.env,
    maxOutputBytes: options.maxOutputBytes ?? defaultMaxOutputBytes,
    rules: { allowCommands: options.allowCommands, userName: userInfo().username, handlersFolder },
    stopping: stopping.signal,
    closing: closing.signal,
    tell,
  }
  await recover(deps)
  transport.start()
  const working = workLoop(deps)

  async function stopOnce(): Promise<void> {
    const isRunning = journal.unsettled().some(({ phase }) => phase === 'started')
    stopping.abort()
    const timer = setTimeout(() => closing.abort(), lastWordsMs + (isRunning ? deps.graceMs : 0))
    await working
    clearTimeout(timer)
    await transport.stop()
    await journal.close()
    state.release()
  }

  let stopped: Promise<void> | undefined
  return {
    stop() {
      stopped ??= stopOnce()
      return stopped
    },
  }
}

async function openJournal(state: StateFolder, tell: Tell): Promise<Journal> {
  try {
    return await Journal.open(state.journal, (keptAs) => tell({ kind: 'journal-replaced', keptAs }))
  } catch (error) {
    state.release()
    throw new StartRefused(`The journal ${state.journal} cannot be used: ${(error as Error).message}`)
  }
}

const writableByAll = 0o002

async function checkHandlersFolder(path: string): Promise<void> {
  const folder = await stat(path).catch(() => undefined)
  if (!folder?.isDirectory()) throw new StartRefused(`The folder of handlers ${path} is not there.`)
  if (folder.mode & writableByAll) {
    throw new StartRefused(
      `Everyone can write to the folder of handlers ${path}, and so decide what runs here: chmod o-w ${path}`,
    )
  }
}
