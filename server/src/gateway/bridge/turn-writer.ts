import type { Writable } from 'node:stream'

const mostGathered = 64 * 1024

/** Writes of one turn of the event loop are sent together: a system call for each takes longer than to encode it. */
export class TurnWriter {
  readonly #stream: Pick<Writable, 'write' | 'writable'>
  #gathered = ''
  #flushing: NodeJS.Immediate | undefined

  constructor(stream: Pick<Writable, 'write' | 'writable'>) {
    this.#stream = stream
  }

  /** One character per byte. */
  write(bytes: string): void {
    this.#gathered += bytes
    if (this.#gathered.length > mostGathered) this.flush()
    else this.#flushing ??= setImmediate(() => this.flush())
  }

  flush(): void {
    clearImmediate(this.#flushing)
    this.#flushing = undefined
    const gathered = this.#gathered
    this.#gathered = ''
    if (gathered !== '' && this.#stream.writable) this.#stream.write(gathered, 'latin1')
  }

  /** Drops what is not written yet. */
  close(): void {
    clearImmediate(this.#flushing)
    this.#gathered = ''
  }
}
