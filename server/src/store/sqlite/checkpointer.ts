// A thread that carries the log over into the file (log-length.ts). Started when the log is long for the first time; it loads
// next to nothing. This file is both the thread's program and the way to talk to it. What it fails to do, the writer does.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { openDatabase } from './database.ts'
import { prepareCarryOver } from './log-length.ts'

export class Checkpointer {
  readonly #path: string
  #worker: Worker | undefined
  /** Under way. */
  #carrying: PromiseWithResolvers<void> | undefined
  #gone: Promise<void> | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves when it has done what it could. */
  async checkpoint(): Promise<void> {
    if (this.#isClosed) return
    if (this.#carrying === undefined) {
      this.#worker ??= this.#start()
      this.#carrying = Promise.withResolvers()
      this.#worker.postMessage('checkpoint')
    }
    await this.#carrying.promise
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#worker?.postMessage('close')
    await this.#gone
  }

  #start(): Worker {
    const worker = new Worker(new URL(import.meta.url), { workerData: { logOf: this.#path } })
    worker.on('error', () => undefined)
    worker.on('message', () => this.#end())
    this.#gone = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined
        this.#end()
        resolve()
      })
    })
    return worker
  }

  #end(): void {
    this.#carrying?.resolve()
    this.#carrying = undefined
  }
}

function serve(path: string): void {
  const db = openDatabase(path)
  const checkpoint = prepareCarryOver(db)
  parentPort?.on('message', (question: 'checkpoint' | 'close') => {
    if (question === 'close') {
      db.close()
      parentPort?.close()
      return
    }
    checkpoint()
    parentPort?.postMessage('done')
  })
}

if (!isMainThread && workerData?.logOf) serve(workerData.logOf)
