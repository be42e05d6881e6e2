// COPY … FROM STDIN on a connection of pg: the fastest way in. pg knows the messages but has no call for it.

import type { Socket } from 'node:net'
import type pg from 'pg'

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
