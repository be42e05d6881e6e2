// COPY … FROM STDIN on a connection of pg, the fastest way to insert rows. pg has no call for it, so the messages of the protocol are
// written here, as pg-copy-streams does.

import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'

/** The methods that pg calls while it sends a query; its types have only the first. */
type Submittable = pg.Submittable & {
  handleCopyInResponse(connection: pg.Connection): void
  handleError(error: Error): void
  handleReadyForQuery(): void
  handleCommandComplete(): void
}

/** Also resolves if the connection is lost, which is reported separately. */
function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}

/** Sends the chunks, each of whole lines, and resolves when they are inserted. */
export function copyIn(client: pg.ClientBase, sql: string, chunks: AsyncIterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    /** The first error of the chunks or the server. */
    let failure: Error | undefined
    const send = async (connection: pg.Connection) => {
      try {
        for await (const chunk of chunks) {
          if (failure) return
          writeData(connection.stream, Buffer.from(chunk))
          if (connection.stream.writableNeedDrain) await drained(connection.stream)
        }
        connection.stream.write(copyDone)
      } catch (error) {
        failure ??= error as Error
        connection.stream.write(copyFail)
      }
    }
    const query: Submittable = {
      submit: (connection) => connection.query(sql),
      handleCopyInResponse: (connection) => void send(connection),
      handleError(error) {
        failure ??= error
        reject(failure)
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
    }
    client.query(query)
  })
}

/** pg only accepts its own queries in a pipeline. */
class CopyQuery extends pg.Query {
  constructor(sql: string, onSent: (connection: pg.Connection) => void, onEnd: (error?: Error) => void) {
    super({ text: sql }, (error) => onEnd(error ?? undefined))
    this.submit = (connection) => {
      connection.query(sql)
      onSent(connection)
    }
  }

  /** The rows are already being sent. */
  handleCopyInResponse(): void {}
}

/**
 * The same in a pipeline, without waiting. If an earlier statement has failed, the server skips the rows. `sent` resolves when
 * other statements may be sent after it, `done` with its result.
 */
export function sendCopy(
  client: pg.ClientBase,
  sql: string,
  pieces: Iterable<Buffer>,
): { sent: Promise<void>; done: Promise<void> } {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const sent = new Promise<void>((resolveSent) => {
    const send = async (connection: pg.Connection) => {
      for (const piece of pieces) {
        writeData(connection.stream, piece)
        if (connection.stream.destroyed) break
        if (connection.stream.writableNeedDrain) await drained(connection.stream)
        else if (piece.length > largePiece) await nextTurn()
      }
      connection.stream.write(copyDone)
    }
    const query = new CopyQuery(
      sql,
      (connection) => void send(connection).finally(resolveSent),
      (error) => (error ? reject(error) : resolve()),
    )
    done.catch(() => resolveSent())
    client.query(query)
  })
  return { sent, done }
}

const largePiece = 100_000

const copyDone = messageHead('c', 0)
const reason = Buffer.from('the rows cannot be read\0')
const copyFail = Buffer.concat([messageHead('f', reason.length), reason])

function writeData(stream: Duplex, piece: Buffer): void {
  stream.cork()
  stream.write(messageHead('d', piece.length))
  stream.write(piece)
  stream.uncork()
}

/** The length includes the length field. */
function messageHead(kind: string, length: number): Buffer {
  const head = Buffer.alloc(5)
  head.write(kind, 'latin1')
  head.writeInt32BE(length + 4, 1)
  return head
}
