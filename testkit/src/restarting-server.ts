// The real program on one data folder, killed and restarted while clients continue to use it.

import { setTimeout as delay } from 'node:timers/promises'
import { type SpawnedServer, spawnServer } from './spawn-server.ts'

/** The instant of a kill or a pause, which these tests vary. There is no event to wait for. */
export const instantOfFault = (ms: number): Promise<void> => delay(Math.max(0, ms))

export class RestartingServer {
  readonly #spawn: () => Promise<SpawnedServer>
  /** The server that runs, or will run next. */
  #next: Promise<SpawnedServer>
  /** The server that was started last. */
  #started: Promise<SpawnedServer>
  #isOver = false

  /** Takes a data folder, or a function that starts the server. */
  constructor(folder: string | (() => Promise<SpawnedServer>), ...flags: string[]) {
    this.#spawn = typeof folder === 'string' ? () => spawnServer(folder, ...flags) : folder
    this.#started = this.#spawn()
    this.#next = this.#started
  }

  readonly running = (): Promise<SpawnedServer> => this.#next

  readonly address = async (): Promise<string> => (await this.#next).mqtt

  /** Resolves when the process has ended; clients wait until `start` is called. */
  async kill(): Promise<{ start: () => Promise<SpawnedServer> }> {
    const server = await this.#next
    const next = Promise.withResolvers<SpawnedServer>()
    next.promise.catch(() => undefined)
    this.#next = next.promise
    await server.end('SIGKILL')
    return {
      start: async () => {
        if (this.#isOver) throw new Error('the test is over')
        this.#started = this.#spawn()
        next.resolve(this.#started)
        return this.#started
      },
    }
  }

  /** Kills after a delay chosen by the test. */
  async killAfter(ms: number): ReturnType<RestartingServer['kill']> {
    await instantOfFault(ms)
    return this.kill()
  }

  /** Sends a signal to the process that was started last, unless its start failed. */
  async send(signal: NodeJS.Signals): Promise<void> {
    const server = await this.#started.catch(() => undefined)
    server?.process.kill(signal)
  }

  async killAndStart(): Promise<SpawnedServer> {
    const { start } = await this.kill()
    return start()
  }

  /** Call at the end of a test, even after a failure. */
  async end(): Promise<void> {
    this.#isOver = true
    const server = await this.#started.catch(() => undefined)
    await server?.end('SIGKILL')
  }
}
