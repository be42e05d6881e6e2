// Parses server-sent events from chunks of bytes, according to the HTML standard.

export type SseBlock = {
  id: string | undefined
  event: string | undefined
  /** Undefined if the block has none: such a block only carries a position. */
  data: string | undefined
}

export class SseParser {
  // Drops a leading byte order mark and keeps an incomplete character for the next chunk.
  readonly #decoder = new TextDecoder()
  #line = ''
  #endedWithCr = false
  #block = emptyBlock()

  /** The blocks completed by this chunk. A block without its empty line at the end of the stream is dropped. */
  push(bytes: Uint8Array): SseBlock[] {
    const decoded = this.#decoder.decode(bytes, { stream: true })
    if (decoded === '') return []
    // A carriage return ends its line at once; a line feed after it belongs to the same line ending.
    const text = this.#endedWithCr ? decoded.replace(/^\n/, '') : decoded
    this.#endedWithCr = decoded.endsWith('\r')
    const lines = text.split(/\r\n|\n|\r/)
    lines[0] = this.#line + lines[0]
    this.#line = lines.pop() ?? ''
    return lines.flatMap((line) => this.#take(line))
  }

  #take(line: string): SseBlock[] {
    if (line === '') {
      const block = this.#block
      this.#block = emptyBlock()
      return block.id === undefined && block.data === undefined ? [] : [block]
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') this.#block.data = joined(this.#block.data, value)
    if (field === 'event') this.#block.event = value
    if (field === 'id' && !value.includes('\0')) this.#block.id = value
    return []
  }
}

function emptyBlock(): SseBlock {
  return { id: undefined, event: undefined, data: undefined }
}

function joined(before: string | undefined, line: string): string {
  return before === undefined ? line : `${before}\n${line}`
}
