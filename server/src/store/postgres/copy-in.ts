// COPY … FROM STDIN on a connection of pg: the fastest way in. pg knows the messages but has no call for it.

import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'

type CopyConnection = {
  stream: Socket
  query(sql: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
}

/** What pg asks of whatever it is to send. */
type Submittable = {
  submit(connection: CopyConnection): void
  handleCopyInResponse(connection: CopyConnection): void
  handleError(error: Error): void
  handleReadyForQuery(): void
  handleCommandComplete(): void
}

/** Also when the connection is gone: that is told by an error of its own. */
function drained(stream: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done)
      resolve()
    }
    stream.on('drain', done).on('close', done)
  })
}

/** Sends the chunks, each of whole lines, and resolves when they are in. */
export function copyIn(client: pg.ClientBase, sql: string, chunks: AsyncIterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    /** Of the chunks, or of the server: the one that came first counts. */
    let failure: Error | undefined
    const send = async (connection: CopyConnection) => {
      try {
        for await (const chunk of chunks) {
          if (failure) return
          connection.sendCopyFromChunk(Buffer.from(chunk))
          if (connection.stream.writableNeedDrain) await drained(connection.stream)
        }
        connection.endCopyFrom()
      } catch (error) {
        failure ??= error as Error
        connection.sendCopyFail('the rows cannot be read')
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
    client.query(query as unknown as pg.Submittable)
  })
}

/** pg lets nothing but its own queries into a pipeline. */
class CopyQuery extends pg.Query {
  constructor(sql: string, onSent: (connection: CopyConnection) => void, onEnd: (error?: Error) => void) {
    super({ text: sql }, (error) => onEnd(error ?? undefined))
    this.submit = (connection) => {
      const to = connection as unknown as CopyConnection
      to.query(sql)
      onSent(to)
    }
  }

  /** The rows are on their way already. */
  handleCopyInResponse(): void {}
}

/**
 * The same in a pipeline: nothing is waited for. Where the server does not take the rows, because what was sent before them
 * has failed, it passes over them. `sent` resolves when other statements may be sent behind it, `done` with its answer.
 */
export function sendCopy(
  client: pg.ClientBase,
  sql: string,
  pieces: Iterable<Buffer>,
): { sent: Promise<void>; done: Promise<void> } {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const sent = new Promise<void>((resolveSent) => {
    const send = async (connection: CopyConnection) => {
      for (const piece of pieces) {
        connection.stream.cork()
        connection.stream.write(copyDataHead(piece))
        connection.stream.write(piece)
        connection.stream.uncork()
        if (connection.stream.destroyed) break
        if (connection.stream.writableNeedDrain) await drained(connection.stream)
        else if (piece.length > largePiece) await nextTurn()
      }
      connection.endCopyFrom()
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

function copyDataHead(piece: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write('d', 'latin1')
  head.writeInt32BE(piece.length + 4, 1)
  return head
}
