// The real program on one data folder, killed and started again while others go on to use it.

import { type SpawnedServer, spawnServer } from './spawn-server.ts'

export class RestartingServer {
  readonly #folder: string
  readonly #flags: string[]
  /** The one that runs, or will run next. */
  #next: Promise<SpawnedServer>
  /** The one that was started last. */
  #started: Promise<SpawnedServer>
  #isOver = false

  constructor(folder: string, ...flags: string[]) {
    this.#folder = folder
    this.#flags = flags
    this.#started = spawnServer(folder, ...flags)
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
        this.#started = spawnServer(this.#folder, ...this.#flags)
        next.resolve(this.#started)
        return this.#started
      },
    }
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
