// A thread that carries the log over into the file (log-length.ts). Started when the log is long for the first time; it loads
// next to nothing. This file is both the thread's program and the way to talk to it. What it fails to do, the writer does.

import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { openDatabase } from './database.ts'
import { prepareCarryOver } from './log-length.ts'

export class LogCarrier {
  readonly #path: string
  #worker: Worker | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Resolves when it has done what it could. */
  async carryOver(): Promise<void> {
    if (this.#isClosed) return
    this.#worker ??= this.#start()
    const over = Promise.race([once(this.#worker, 'message'), once(this.#worker, 'exit')])
    this.#worker.postMessage('carry over')
    await over.catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#worker === undefined) return
    const gone = once(this.#worker, 'exit')
    this.#worker.postMessage('close')
    await gone
  }

  #start(): Worker {
    const worker = new Worker(new URL(import.meta.url), { workerData: { logOf: this.#path } })
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      this.#worker = undefined
    })
    return worker
  }
}

function serve(path: string): void {
  const db = openDatabase(path)
  const carryOver = prepareCarryOver(db)
  parentPort?.on('message', (question: 'carry over' | 'close') => {
    if (question === 'close') {
      db.close()
      parentPort?.close()
      return
    }
    carryOver()
    parentPort?.postMessage('done')
  })
}

if (!isMainThread && workerData?.logOf) serve(workerData.logOf)
