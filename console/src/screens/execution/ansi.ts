// Converts a line of terminal output: colours and weights become class names, and all other control characters are removed. The
// text never becomes HTML: it is rendered as spans with styles.

/** The classes that apply from `start` on; empty for plain text. */
type StyleRun = { start: number; classes: string }
export type Line = {
  text: string
  styles: StyleRun[]
  /** The line was too long, and continues in the next entry. */
  goesOn: boolean
}

export type Style = {
  fg: number | undefined
  bg: number | undefined
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  inverse: boolean
  strike: boolean
}

export const plain: Style = {
  fg: undefined,
  bg: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  strike: false,
}

// ESC [ … final, ESC ] … BEL or ESC \, or ESC and one character.
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
  /\x1b\[([\d;:?<=>]*)[ -/]*([@-~])|\x1b\](?:[^\x07\x1b]|\x1b(?!\\))*(?:\x07|\x1b\\|$)|\x1b[^[\]]?/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const controls = /[\x00-\x1f\x7f]/
const tabStop = 8

/** `style`: the style at the end of the previous line. Returns the style at the end of this line. */
export function parseLine(raw: string, style: Style, goesOn = false): { line: Line; style: Style } {
  if (style === plain && !controls.test(raw)) return { line: { text: raw, styles: [], goesOn }, style }
  const writer = new LineWriter(style)
  let from = 0
  for (const match of raw.matchAll(escapes)) {
    writer.write(raw.slice(from, match.index))
    from = match.index + match[0].length
    if (match[2] === 'm') writer.setStyle(match[1] ?? '')
  }
  writer.write(raw.slice(from))
  return { line: { text: writer.text, styles: writer.styles, goesOn }, style: writer.style }
}

class LineWriter {
  text = ''
  styles: StyleRun[] = []
  style: Style

  constructor(style: Style) {
    this.style = style
    this.#mark()
  }

  write(raw: string): void {
    if (!controls.test(raw)) {
      this.text += raw
      return
    }
    for (const [index, letter] of [...raw].entries()) {
      if (letter === '\t') this.text += ' '.repeat(tabStop - (this.text.length % tabStop))
      // The following text overwrites the line, as in progress bars; at the end of a line it is part of CR LF.
      else if (letter === '\r') index < raw.length - 1 && this.#startOver()
      else if (letter === '\b') this.text = this.text.slice(0, -1)
      else if (!controls.test(letter)) this.text += letter
    }
  }

  setStyle(params: string): void {
    this.style = applySgr(this.style, params)
    this.#mark()
  }

  #startOver(): void {
    this.text = ''
    this.styles = []
    this.#mark()
  }

  #mark(): void {
    const start = this.text.length
    const classes = classesOf(this.style)
    if (this.styles.at(-1)?.start === start) this.styles.pop()
    if ((this.styles.at(-1)?.classes ?? '') !== classes) this.styles.push({ start, classes })
  }
}

function applySgr(style: Style, params: string): Style {
  const codes = params.split(/[;:]/).map((code) => (code === '' ? 0 : Number(code)))
  let next = { ...style }
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] as number
    if (code === 38 || code === 48) {
      const { color, used } = longColor(codes.slice(index + 1))
      if (code === 38) next.fg = color
      else next.bg = color
      index += used
    } else next = applyCode(next, code)
  }
  return Object.entries(plain).every(([name, value]) => next[name as keyof Style] === value) ? plain : next
}

function applyCode(style: Style, code: number): Style {
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 }
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 }
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 }
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 }
  return code === 0 ? plain : { ...style, ...switches[code] }
}

const switches: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: undefined },
  49: { bg: undefined },
}

/** 5;n and 2;r;g;b become the nearest of the sixteen colours, which are readable in both themes. */
function longColor([kind, ...rest]: number[]): { color: number | undefined; used: number } {
  if (kind === 5) return { color: fromPalette(rest[0] ?? 0), used: 2 }
  if (kind === 2) return { color: nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 }
  return { color: undefined, used: 0 }
}

function fromPalette(index: number): number {
  if (index < 16) return index
  if (index >= 232)
    return nearest(...([(index - 232) * 10 + 8, (index - 232) * 10 + 8, (index - 232) * 10 + 8] as const))
  const cube = index - 16
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40)
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

const sixteen = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
] as const

function nearest(red: number, green: number, blue: number): number {
  const distances = sixteen.map(([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2)
  return distances.indexOf(Math.min(...distances))
}

/** Names only contain numbers computed here, never input. */
function classesOf({ fg, bg, bold, dim, italic, underline, inverse, strike }: Style): string {
  const [front, back] = inverse ? [bg ?? 'back', fg ?? 'front'] : [fg, bg]
  return [
    front !== undefined && `ansi-fg-${front}`,
    back !== undefined && `ansi-bg-${back}`,
    bold && 'ansi-bold',
    dim && 'ansi-dim',
    italic && 'ansi-italic',
    underline && 'ansi-underline',
    strike && 'ansi-strike',
  ]
    .filter(Boolean)
    .join(' ')
}
