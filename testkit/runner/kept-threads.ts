// Replaces node:worker_threads in tests of server/src/store/sqlite/database-thread.ts: the threads differ only in that they
// are reused. They serve one database after the other, and never two at once.

import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort, Worker as Thread } from 'node:worker_threads'

export { isMainThread, parentPort, workerData } from 'node:worker_threads'

const program = new URL('database-thread-loop.ts', import.meta.url)
const idle: Thread[] = []

export class Worker extends EventEmitter {
  readonly #thread = idle.pop() ?? startThread()
  readonly #port: MessagePort
  readonly #onError = (error: unknown) => this.#fail(error)
  #isOver = false

  constructor(_program: URL, { workerData }: { workerData: unknown }) {
    super()
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#thread.ref()
    this.#thread.once('error', this.#onError)
    this.#thread.postMessage({ workerData, port: port2 }, [port2])
    port1.on('message', (message) => this.emit('message', message))
    port1.once('close', () => this.#end())
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#thread.off('error', this.#onError)
    this.#thread.unref()
    idle.push(this.#thread)
    this.emit('exit', 0)
  }

  /** The thread has ended, and with it its end of the port. */
  #fail(error: unknown): void {
    this.#isOver = true
    this.emit('error', error)
    this.emit('exit', 1)
  }
}

function startThread(): Thread {
  const thread = new Thread(program, { execArgv: [] })
  thread.setMaxListeners(0)
  return thread
}
