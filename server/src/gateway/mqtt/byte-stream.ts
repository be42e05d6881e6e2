/** What a connection needs of the network, over TCP, TLS or WebSocket. A socket fits as it is. */
export type ByteStream = {
  /** False once it is closed, or about to be. */
  readonly writable: boolean
  /** Bytes that were written here and that the network has not taken yet. */
  readonly writableLength: number
  write(bytes: Uint8Array): unknown
  /** Closes once everything written is out. */
  end(): unknown
  destroy(): unknown
  pause(): unknown
  resume(): unknown
}
