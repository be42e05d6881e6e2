// A thread that checkpoints the write-ahead log (log-length.ts). Started when the log is long for the first time; it loads very
// few modules. This file is both the program of the thread and its interface. If a checkpoint fails, the writer makes it.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { openDatabase } from './database.ts'
import { prepareCheckpoint } from './log-length.ts'
import { threadEnvironment } from './thread-environment.ts'

export class Checkpointer {
  readonly #path: string
  #worker: Worker | undefined
  /** The checkpoint in progress. */
  #carrying: PromiseWithResolvers<void> | undefined
  #gone: Promise<void> | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves at the end of the checkpoint, also if it failed. */
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
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { logOf: this.#path },
      env: threadEnvironment(),
    })
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
  const checkpoint = prepareCheckpoint(db)
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
