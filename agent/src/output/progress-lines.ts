// Finds "::progress 40 some text" lines in a handler's output, across chunk boundaries.

export type Progress = { progress: string; message?: string }

const mark = Buffer.from('::progress ')
/** Longer lines are ignored, so that a line of a gigabyte costs no memory. */
const longestLine = 2048
const newline = 0x0a

export class ProgressLines {
  readonly #onProgress: (progress: Progress) => void
  /** The current line, up to the longest that counts. */
  #line = Buffer.alloc(0)

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#add(chunk.subarray(start))
  }

  /** The last line need not have a newline. */
  end(): void {
    this.#endLine()
  }

  #add(part: Buffer): void {
    const begun = this.#line
    // For a line that does not start with the mark, only enough to know that is kept.
    const isNone = begun.length >= mark.length && !begun.subarray(0, mark.length).equals(mark)
    const room = (isNone ? mark.length : longestLine) - begun.length
    if (room > 0 && part.length > 0) this.#line = Buffer.concat([begun, part.subarray(0, room)])
  }

  #endLine(): void {
    const line = this.#line
    this.#line = Buffer.alloc(0)
    if (!line.subarray(0, mark.length).equals(mark)) return
    const progress = parseProgress(line.toString())
    if (progress) this.#onProgress(progress)
  }
}

const pattern = /^::progress +(\d{1,3}(?:\.\d{1,6})?)%?(?:\s+(.*?))?\s*$/s

export function parseProgress(line: string): Progress | undefined {
  const [, percent = '', text = ''] = pattern.exec(line) ?? []
  if (percent === '' || Number(percent) > 100) return undefined
  return { progress: String(Number(percent)), ...(text !== '' && { message: text }) }
}
