import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import type { ByteStream } from './byte-stream.ts'

const normalClosure = 1000

/** A WebSocket as a byte stream. The stream in `ws` is far heavier. */
export class WebSocketStream implements ByteStream {
  readonly #socket: WebSocket
  readonly #transport: Duplex

  /** `transport`: the underlying TCP or TLS stream. */
  constructor(socket: WebSocket, transport: Duplex) {
    this.#socket = socket
    this.#transport = transport
  }

  get writable(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  get writableLength(): number {
    return this.#socket.bufferedAmount
  }

  write(bytes: Uint8Array | string): void {
    this.#socket.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  cork(): void {
    this.#transport.cork()
  }

  uncork(): void {
    this.#transport.uncork()
  }

  end(): void {
    this.#socket.close(normalClosure)
  }

  destroy(): void {
    this.#socket.terminate()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }
}
