// Parses patterns of parameters: regular expressions of ECMA-262 (flag u) without backreferences, lookahead and lookbehind,
// so that matching takes linear time. linear-pattern.ts matches.

export type CharRange = readonly [from: number, to: number]
export type AssertKind = 'start' | 'end' | 'boundary' | 'no-boundary'
export type PatternNode =
  | { kind: 'chars'; ranges: CharRange[]; isNegated: boolean }
  | { kind: 'assert'; assert: AssertKind }
  | { kind: 'sequence' | 'choice'; of: PatternNode[] }
  | { kind: 'repeat'; of: PatternNode; min: number; max: number }

export class PatternError extends Error {
  override readonly name = 'PatternError'
  /** In characters, from 1. */
  readonly position: number

  constructor(at: number, message: string) {
    super(`${message}, at character ${at + 1}`)
    this.position = at + 1
  }
}

export const maxPatternLength = 512
const maxDepth = 32
const maxRepeat = 1000

const digits: CharRange[] = [[48, 57]]
export const wordChars: CharRange[] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
]
const spaces: CharRange[] = [
  ...([
    [9, 13],
    [32, 32],
    [160, 160],
    [5760, 5760],
    [8192, 8202],
    [8232, 8233],
  ] as CharRange[]),
  ...([
    [8239, 8239],
    [8287, 8287],
    [12288, 12288],
    [65279, 65279],
  ] as CharRange[]),
]
const lineEnds: CharRange[] = [
  [10, 10],
  [13, 13],
  [8232, 8233],
]
const classes: Record<string, CharRange[]> = { d: digits, w: wordChars, s: spaces }
const controls: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 }
const syntaxChars = '^$\\.*+?()[]{}|/'

type Chars = { ranges: CharRange[]; isNegated: boolean }

export function parsePattern(pattern: string): PatternNode {
  const chars = [...pattern]
  if (chars.length > maxPatternLength) {
    throw new PatternError(maxPatternLength, `a pattern has at most ${maxPatternLength} characters`)
  }
  return new Parser(chars).parse()
}

class Parser {
  readonly #chars: string[]
  #at = 0
  #depth = 0

  constructor(chars: string[]) {
    this.#chars = chars
  }

  parse(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#chars.length) this.#fail('")" without "("')
    return node
  }

  #choice(): PatternNode {
    const of = [this.#sequence()]
    while (this.#take('|')) of.push(this.#sequence())
    return of.length === 1 ? (of[0] as PatternNode) : { kind: 'choice', of }
  }

  #sequence(): PatternNode {
    const of: PatternNode[] = []
    while (this.#at < this.#chars.length && this.#char !== '|' && this.#char !== ')') of.push(this.#term())
    return { kind: 'sequence', of }
  }

  #term(): PatternNode {
    const start = this.#at
    const node = this.#atom()
    const repeat = this.#repeat()
    if (repeat === undefined) return node
    if (node.kind === 'assert') throw new PatternError(start, 'an assertion cannot be repeated')
    return { kind: 'repeat', of: node, ...repeat }
  }

  #atom(): PatternNode {
    const char = this.#char
    if (char === '\\') return this.#escapedAtom()
    this.#at++
    if (char === '^') return { kind: 'assert', assert: 'start' }
    if (char === '$') return { kind: 'assert', assert: 'end' }
    if (char === '.') return { kind: 'chars', ranges: lineEnds, isNegated: true }
    if (char === '[') return { kind: 'chars', ...this.#class() }
    if (char === '(') return this.#group()
    if (syntaxChars.includes(char) && char !== '/') {
      this.#at--
      this.#fail(`write \\${char} for a literal ${char}`)
    }
    return { kind: 'chars', ...only(char) }
  }

  #group(): PatternNode {
    if (this.#char === '?' && !(this.#take('?') && this.#take(':'))) {
      this.#fail('groups that begin with (? are not supported, except (?:')
    }
    if (++this.#depth > maxDepth) this.#fail(`at most ${maxDepth} groups stand inside each other`)
    const node = this.#choice()
    if (!this.#take(')')) this.#fail('expected ")"')
    this.#depth--
    return node
  }

  #repeat(): { min: number; max: number } | undefined {
    const repeat = this.#quantifier()
    if (repeat) this.#take('?')
    return repeat
  }

  #quantifier(): { min: number; max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (this.#take('?')) return { min: 0, max: 1 }
    if (!this.#take('{')) return undefined
    const min = this.#number()
    let max = min
    if (this.#take(',')) max = this.#char === '}' ? Number.POSITIVE_INFINITY : this.#number()
    if (!this.#take('}')) this.#fail('expected "}"')
    if (max < min) this.#fail('the smaller number must come first')
    return { min, max }
  }

  #number(): number {
    let text = ''
    while (this.#char >= '0' && this.#char <= '9' && text.length < 5) text += this.#chars[this.#at++]
    if (text === '' || Number(text) > maxRepeat) this.#fail(`expected a number of at most ${maxRepeat}`)
    return Number(text)
  }

  #escapedAtom(): PatternNode {
    const next = this.#chars[this.#at + 1]
    if (next === 'b' || next === 'B') {
      this.#at += 2
      return { kind: 'assert', assert: next === 'b' ? 'boundary' : 'no-boundary' }
    }
    return { kind: 'chars', ...this.#escape('') }
  }

  /** Reads an escape after the backslash. `alsoPlain`: characters that may be escaped besides those of the syntax. */
  #escape(alsoPlain: string): Chars {
    const start = this.#at++
    const char = this.#char
    this.#at++
    const named = classes[char.toLowerCase()]
    if (named && char !== '') return { ranges: named, isNegated: char < 'a' }
    const control = controls[char]
    if (control !== undefined && !(char === '0' && /\d/.test(this.#char))) return one(control)
    if (char === 'x') return one(this.#hex(2))
    if (char === 'u') return one(this.#take('{') ? this.#longHex() : this.#hex(4))
    if (char !== '' && (syntaxChars + alsoPlain).includes(char)) return only(char)
    throw new PatternError(start, `\\${char} is not supported`)
  }

  #hex(length: number): number {
    const text = this.#chars.slice(this.#at, this.#at + length).join('')
    if (text.length !== length || !/^[0-9a-fA-F]+$/.test(text)) this.#fail(`expected ${length} hex digits`)
    const code = Number.parseInt(text, 16)
    if (code >= 0xd800 && code <= 0xdfff) this.#fail('write \\u{…} for a character beyond \\uffff')
    this.#at += length
    return code
  }

  #longHex(): number {
    const end = this.#chars.indexOf('}', this.#at)
    const text = this.#chars.slice(this.#at, end).join('')
    const code = /^[0-9a-fA-F]{1,6}$/.test(text) ? Number.parseInt(text, 16) : Number.NaN
    if (end < 0 || !(code <= 0x10ffff)) this.#fail('expected a code point in hex digits and "}"')
    this.#at = end + 1
    return code
  }

  #class(): Chars {
    const isNegated = this.#take('^')
    const ranges: CharRange[] = []
    while (!this.#take(']')) {
      const from = this.#classMember()
      if (this.#char === '-' && this.#chars[this.#at + 1] !== ']' && this.#at + 1 < this.#chars.length) {
        this.#at++
        ranges.push(this.#range(from, this.#classMember()))
      } else ranges.push(...positive(from))
    }
    return { ranges, isNegated }
  }

  #classMember(): Chars {
    if (this.#at >= this.#chars.length) this.#fail('expected "]"')
    if (this.#char === '\\') return this.#chars[this.#at + 1] === 'b' ? this.#backspace() : this.#escape('-')
    return only(this.#chars[this.#at++] as string)
  }

  #backspace(): Chars {
    this.#at += 2
    return one(8)
  }

  #range(from: Chars, to: Chars): CharRange {
    const [first] = from.ranges
    const [last] = to.ranges
    if (!isSingle(from) || !isSingle(to) || !first || !last)
      return this.#fail('a range is between characters')
    if (first[0] > last[0]) this.#fail('a range begins with the smaller character')
    return [first[0], last[0]]
  }

  get #char(): string {
    return this.#chars[this.#at] ?? ''
  }

  #take(char: string): boolean {
    if (this.#char !== char) return false
    this.#at++
    return true
  }

  #fail(message: string): never {
    throw new PatternError(this.#at, message)
  }
}

function only(char: string): Chars {
  return one(char.codePointAt(0) as number)
}

function one(code: number): Chars {
  return { ranges: [[code, code]], isNegated: false }
}

function isSingle({ ranges: [range, ...others], isNegated }: Chars): boolean {
  return !isNegated && others.length === 0 && range !== undefined && range[0] === range[1]
}

/** [^\d] inside a class: all characters but these. */
function positive({ ranges, isNegated }: Chars): CharRange[] {
  if (!isNegated) return ranges
  let from = 0
  const gaps: CharRange[] = []
  for (const [first, last] of ranges) {
    if (first > from) gaps.push([from, first - 1])
    from = last + 1
  }
  gaps.push([from, 0x10ffff])
  return gaps
}
