/** What a connection needs from TCP, TLS or WebSocket. A net.Socket fits as it is. */
export type ByteStream = {
  /** False once it is closed, or about to be. */
  readonly writable: boolean
  /** Bytes written here that are not yet sent. */
  readonly writableLength: number
  /** A text has one character for each byte. */
  write(bytes: Uint8Array | string, encoding?: 'latin1'): unknown
  /** Until `uncork`, writes are gathered and then sent together. */
  cork(): unknown
  uncork(): unknown
  /** Closes after everything written was sent. */
  end(): unknown
  destroy(): unknown
  pause(): unknown
  resume(): unknown
}
