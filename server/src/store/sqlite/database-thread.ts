// A thread with its own connection, so that waiting for the disk never stops the event loop.
// Two of them run: one writes, one reads. This file is both the program of the thread and its interface.

import { isMainThread, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { StorageUnavailable, TooMuchWaiting } from '../../domain/common/ports/storage-errors.ts'
import type { ZoneChange } from '../queries.ts'
import { isUnavailable, openDatabase, openReader, openScanner } from './database.ts'
import { batchSize } from './draft-writer.ts'
import { watchLog } from './log-length.ts'
import { prepareReads, prepareWrites, type Reads, type Writes } from './operations.ts'
import { type Question, Questions } from './questions.ts'
import { threadEnvironment } from './thread-environment.ts'
import { nobody, type WriteListener } from './writes.ts'

type Role = 'reader' | 'scanner' | 'writer'
type Operations = { [name: string]: (input: never) => unknown }
/** The result of an operation, synchronous or not. */
type AnswerOf<Operation extends (input: never) => unknown> = Promise<Awaited<ReturnType<Operation>>>
/** Effects of a write besides its result: events, state changes of executions, and changes of zones. */
type Effects = { events: boolean; moves: Moves | undefined; zones: ZoneChange[] }
type Moves = Parameters<WriteListener['onMoved']>[0]
type Answer =
  | [id: number, value: unknown, ...([] | [Effects['events'], Effects['moves'], Effects['zones']])]
  | { id: number; error: string; unavailable: boolean }
/** A message that is not a response: the log has become long. */
const longLog = 'long-log'
type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void }

/** The writer measures its log after this many responses, because it takes as long as a small insert. */
const answersPerLook = 16

/** Triggers and device puts have their own limits; this limits all other steps. */
const maxWaiting = 10_000

export class DatabaseThread<Ops extends Operations> {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #gone: Promise<void>
  #lastId = 0
  #lost: Error | undefined
  /** Called with moves and zones before the response, with events after it. */
  listener = nobody
  /** Only for the writer. */
  onLongLog: () => void = () => undefined

  /** `onLost` is called if the thread ends unexpectedly. */
  constructor(role: Role, path: string, onLost: (error: Error) => void) {
    this.#worker = new Worker(new URL(import.meta.url), {
      workerData: { role, path },
      env: threadEnvironment(),
    })
    this.#worker.on('message', (answer: Answer | typeof longLog) => {
      if (answer === longLog) this.onLongLog()
      else this.#take(answer)
    })
    this.#worker.on('error', (error) => this.#lose(error as Error, onLost))
    this.#gone = new Promise((resolve) => this.#worker.once('exit', () => resolve()))
  }

  call<Name extends keyof Ops & string>(name: Name, input: Parameters<Ops[Name]>[0]): AnswerOf<Ops[Name]> {
    if (this.#lost) return Promise.reject(this.#lost)
    if (this.#waiting.size >= maxWaiting) return Promise.reject(new TooMuchWaiting())
    const id = ++this.#lastId
    this.#worker.postMessage([id, name, input] satisfies Question)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Answers earlier requests, then closes the connection. May be called twice. */
  async close(): Promise<void> {
    if (!this.#lost) this.#worker.postMessage('close')
    this.#lost ??= new StorageUnavailable('it is closed')
    await this.#gone
  }

  #take(answer: Answer): void {
    const id = Array.isArray(answer) ? answer[0] : answer.id
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (Array.isArray(answer)) {
      const [, value, events = false, moves, zones = []] = answer
      if (moves) this.listener.onMoved(moves)
      if (zones.length > 0) this.listener.onZones(zones)
      waiting?.resolve(value)
      if (events) this.listener.onEvents()
    } else
      waiting?.reject(answer.unavailable ? new StorageUnavailable(answer.error) : new Error(answer.error))
  }

  #lose(error: Error, onLost: (error: Error) => void): void {
    this.#lost = error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    onLost(error)
  }
}

/** The interface that the store needs. */
export type Thread<Ops extends Operations> = Pick<DatabaseThread<Ops>, 'call' | 'close' | 'listener'>
export type ReaderThread = Thread<Reads>
export type WriterThread = Thread<Writes>

/** Started with its first request, because many services never send one. */
export class LazyThread<Ops extends Operations> implements Thread<Ops> {
  readonly #open: () => DatabaseThread<Ops>
  #thread: DatabaseThread<Ops> | undefined
  #isClosed = false
  listener = nobody

  constructor(open: () => DatabaseThread<Ops>) {
    this.#open = open
  }

  call<Name extends keyof Ops & string>(name: Name, input: Parameters<Ops[Name]>[0]): AnswerOf<Ops[Name]> {
    if (this.#isClosed) return Promise.reject(new StorageUnavailable('it is closed'))
    this.#thread ??= this.#open()
    return this.#thread.call(name, input)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }
}

const openAs = { reader: openReader, scanner: openScanner, writer: openDatabase }

/** Serves requests until 'close'. */
export function serveQuestions(port: MessagePort, { role, path }: { role: Role; path: string }): void {
  const db = openAs[role](path)
  let effects: Effects
  const listener: WriteListener = {
    onEvents() {
      effects.events = true
    },
    // The response may contain the same objects, which are sent once within one message.
    onMoved({ moved, delayedIds }) {
      effects.moves = { moved, delayedIds }
    },
    onZones(changes) {
      effects.zones.push(...changes)
    },
  }
  const questions = new Questions(port)
  const drafts = { hasWaiters: () => questions.hasWaiters(), batchSize }
  const operations: Operations = role === 'writer' ? prepareWrites(db, listener, drafts) : prepareReads(db)
  const isLogLong = role === 'writer' ? watchLog(db) : undefined

  function tell(id: number, value: unknown): void {
    const { events, moves, zones } = effects
    const hasEffects = events || moves !== undefined || zones.length > 0
    port.postMessage((hasEffects ? [id, value, events, moves, zones] : [id, value]) satisfies Answer)
  }

  function tellFailure(id: number, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    port.postMessage({ id, error: text, unavailable: isUnavailable(error) } satisfies Answer)
  }

  /** Undefined: the response was sent synchronously. */
  function answer([id, name, input]: Question): Promise<void> | undefined {
    effects = noEffects()
    try {
      const value = operations[name]?.(input as never)
      if (!(value instanceof Promise)) return tell(id, value) as undefined
      return value.then((later) => tell(id, later)).catch((error) => tellFailure(id, error))
    } catch (error) {
      return tellFailure(id, error) as undefined
    }
  }

  let isBusy = false
  let answered = 0

  async function answerWaiting(): Promise<void> {
    isBusy = true
    for (let next = questions.take(); next !== undefined; next = questions.take()) {
      if (next !== 'close') {
        const answering = answer(next)
        if (answering) await answering
        if (++answered % answersPerLook === 0 && isLogLong?.()) port.postMessage(longLog)
      } else {
        db.close()
        port.close()
      }
    }
    isBusy = false
  }

  port.on('message', (question: Question | 'close') => {
    questions.add(question)
    if (!isBusy) void answerWaiting()
  })
}

const noEffects = (): Effects => ({ events: false, moves: undefined, zones: [] })

if (!isMainThread && parentPort && workerData?.role) serveQuestions(parentPort, workerData)
