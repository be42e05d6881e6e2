// Makes device output safe for a terminal: keeps printable text, newlines, tabs and colors. Removes all other control
// sequences: cursor movement, window titles, clipboard access, replies typed on the user's behalf.

import type { TextOutput } from '../io.ts'

export type OutputFilter = {
  push(bytes: Uint8Array): Uint8Array | string
  /** The rest of an incomplete character. */
  end(): string
  /** Write this last, so that colors of the device do not stay. */
  resetColors(): string
}

/** Changes nothing if the output is not a terminal, or if the user asks for raw output. */
export function filterFor(
  { isTTY }: TextOutput,
  { raw = false }: { raw?: boolean | undefined },
): OutputFilter {
  return isTTY && !raw ? new TerminalFilter() : unfiltered
}

const unfiltered: OutputFilter = { push: (bytes) => bytes, end: () => '', resetColors: () => '' }

type State = 'text' | 'escape' | 'sequence' | 'string'

const esc = '\u001b'
const reset = '\u001b[0m'
const maxParameters = 64
// DCS, SOS, OSC, PM and APC, as one byte after ESC or as a C1 control. They start a string for the terminal itself.
const stringStarts = new Set(['P', 'X', ']', '^', '_', '\u0090', '\u0098', '\u009d', '\u009e', '\u009f'])
const bidirectional = /[\u202a-\u202e\u2066-\u2069]/

/** A state machine over characters, so that a sequence may be split over any chunks. */
export class TerminalFilter implements OutputFilter {
  readonly #decoder = new TextDecoder()
  #state: State = 'text'
  #parameters = ''
  #afterReturn = false
  #isColored = false

  push(bytes: Uint8Array): string {
    return this.#filter(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): string {
    return this.#filter(this.#decoder.decode())
  }

  resetColors(): string {
    return this.#isColored ? reset : ''
  }

  #filter(text: string): string {
    let shown = ''
    for (const character of text) shown += this.#next(character)
    return shown
  }

  #next(character: string): string {
    // A newline ends every sequence, so that an unfinished one hides no more than its line.
    if (character === '\n' || character === '\r') return this.#newline(character)
    this.#afterReturn = false
    if (character === esc) return this.#enter('escape')
    switch (this.#state) {
      case 'text':
        return this.#text(character)
      case 'escape':
        return this.#escaped(character)
      case 'sequence':
        return this.#sequence(character)
      case 'string':
        return character === '\u0007' || character === '\u009c' ? this.#enter('text') : ''
    }
  }

  /** Turns a lone carriage return into a newline: a device must not overwrite its line. */
  #newline(character: string): string {
    const isSecondOfPair = character === '\n' && this.#afterReturn
    this.#afterReturn = character === '\r'
    this.#enter('text')
    return isSecondOfPair ? '' : '\n'
  }

  #text(character: string): string {
    if (character === '\t') return character
    if (character === '\u009b') return this.#enter('sequence')
    if (stringStarts.has(character) && character >= '\u0080') return this.#enter('string')
    return isControl(character) || bidirectional.test(character) ? '' : character
  }

  #escaped(character: string): string {
    if (character === '[') return this.#enter('sequence')
    if (stringStarts.has(character)) return this.#enter('string')
    // Intermediate bytes, as in ESC ( B; the sequence ends with the byte after them.
    if (character >= ' ' && character <= '/') return ''
    return this.#enter('text')
  }

  #sequence(character: string): string {
    if (character >= '0' && character <= '?') {
      if (this.#parameters.length < maxParameters) this.#parameters += character
      return ''
    }
    if (character < '@') {
      // With intermediate bytes, the sequence is not a color.
      this.#parameters = '?'
      return ''
    }
    const isComplete = this.#parameters.length < maxParameters
    const color = character === 'm' && isComplete && /^[\d;:]*$/.test(this.#parameters)
    const shown = color ? `${esc}[${this.#parameters}m` : ''
    this.#isColored ||= color
    this.#enter('text')
    return shown
  }

  #enter(state: State): '' {
    this.#state = state
    this.#parameters = ''
    return ''
  }
}

/** C0, DEL and C1. */
function isControl(character: string): boolean {
  return character < ' ' || (character >= '\u007f' && character <= '\u009f')
}
