// The real program on one data folder, killed and started again while others go on to use it.

import { setTimeout as delay } from 'node:timers/promises'
import { type SpawnedServer, spawnServer } from './spawn-server.ts'

/** The instant of a kill or a pause is what such a test varies, and no event goes with it. */
export const instantOfFault = (ms: number): Promise<void> => delay(Math.max(0, ms))

export class RestartingServer {
  readonly #spawn: () => Promise<SpawnedServer>
  /** The one that runs, or will run next. */
  #next: Promise<SpawnedServer>
  /** The one that was started last. */
  #started: Promise<SpawnedServer>
  #isOver = false

  /** A data folder, or how it is started. */
  constructor(folder: string | (() => Promise<SpawnedServer>), ...flags: string[]) {
    this.#spawn = typeof folder === 'string' ? () => spawnServer(folder, ...flags) : folder
    this.#started = this.#spawn()
    this.#next = this.#started
  }

  readonly running = (): Promise<SpawnedServer> => this.#next

  readonly address = async (): Promise<string> => (await this.#next).mqtt

  /** Resolves when it is gone; until `start` everybody waits for the next one. */
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

  /** As `kill`, at an instant that the test has chosen. */
  async killAfter(ms: number): ReturnType<RestartingServer['kill']> {
    await instantOfFault(ms)
    return this.kill()
  }

  /** To the process that was started last; none if it did not start. */
  async send(signal: NodeJS.Signals): Promise<void> {
    const server = await this.#started.catch(() => undefined)
    server?.process.kill(signal)
  }

  async killAndStart(): Promise<SpawnedServer> {
    const { start } = await this.kill()
    return start()
  }

  /** For the end of a test, however it came. */
  async end(): Promise<void> {
    this.#isOver = true
    const server = await this.#started.catch(() => undefined)
    await server?.end('SIGKILL')
  }
}
