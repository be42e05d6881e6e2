// The selector language: text that selects devices, such as `tag=kiosk and site in (berlin, lima) and not online`.

import { readTokens, SelectorError, type Token } from './tokens.ts'

export { SelectorError } from './tokens.ts'

export const comparisons = ['=', '!=', '<', '<=', '>', '>=', '~'] as const
export type Comparison = (typeof comparisons)[number]

/** `at`: the position of the term in the text. */
export type SelectorTerm =
  | { kind: 'compare'; name: string; op: Comparison; value: string }
  | { kind: 'in'; name: string; values: string[] }
  | { kind: 'online' }
  | { kind: 'all' }
  | { kind: 'group'; groupName: string; at: number }
export type Selector = SelectorTerm | { kind: 'and' | 'or'; of: Selector[] } | { kind: 'not'; of: Selector }

export const maxSelectorBytes = 4096
export const maxSelectorTerms = 64
/** Prevents stack overflows by many parentheses. */
const maxDepth = 64

/** Words that cannot be names, in upper or lower case. */
const reservedWords = ['and', 'or', 'not', 'in', 'online', 'all', 'group']
/** Names that are not those of attributes. */
export const deviceFieldNames = ['tag', 'deviceId', 'deviceName'] as const
export const attributeNamePattern = '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$'
const nameRule = new RegExp(attributeNamePattern)

/** The source of an attribute: `own.fw` is the owner's value, `reported.fw` that of the device. */
export type AttributeSide = 'own' | 'reported'
const sideRule = /^(own|reported)\.(.*)$/s

export function isDeviceField(name: string): boolean {
  return (deviceFieldNames as readonly string[]).includes(name)
}

/** 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -, and no reserved word or prefix. */
export function isAttributeName(name: string): boolean {
  return nameRule.test(name) && !isReserved(name) && !isDeviceField(name) && !sideRule.test(name)
}

/** Resolves a name in a selector. Without a side, the owner's value takes precedence over the reported one. */
export function attributeOf(name: string): { name: string; side: AttributeSide | undefined } {
  const [, side, bare] = sideRule.exec(name) ?? []
  return bare === undefined ? { name, side: undefined } : { name: bare, side: side as AttributeSide }
}

/** For gates: a name without a prefix is an attribute reported by the device. */
export function asReported(selector: Selector): Selector {
  return ofSide(selector, 'reported')
}

/** For restrictions of keys: a name without a prefix is an attribute set by the owner. */
export function asOwn(selector: Selector): Selector {
  return ofSide(selector, 'own')
}

function ofSide(selector: Selector, side: AttributeSide): Selector {
  switch (selector.kind) {
    case 'and':
    case 'or':
      return { kind: selector.kind, of: selector.of.map((each) => ofSide(each, side)) }
    case 'not':
      return { kind: 'not', of: ofSide(selector.of, side) }
    case 'in':
    case 'compare':
      return isAttributeName(selector.name) ? { ...selector, name: `${side}.${selector.name}` } : selector
    default:
      return selector
  }
}

/** Throws a SelectorError if the text is invalid. */
export function parseSelector(text: string): Selector {
  if (text.length > maxSelectorBytes || new TextEncoder().encode(text).length > maxSelectorBytes) {
    throw new SelectorError(0, `a selector has at most ${maxSelectorBytes} bytes`)
  }
  return new Parser(readTokens(text)).parse()
}

/** All terms, from left to right. */
export function termsOf(selector: Selector): SelectorTerm[] {
  switch (selector.kind) {
    case 'and':
    case 'or':
      return selector.of.flatMap(termsOf)
    case 'not':
      return termsOf(selector.of)
    default:
      return [selector]
  }
}

/** The attributes in the selector, as written (`fw`, `own.fw`, `reported.fw`) and without duplicates. */
export function attributeNamesOf(selector: Selector): string[] {
  const names = termsOf(selector).flatMap((term) => ('name' in term ? [term.name] : []))
  return [...new Set(names)].filter((name) => !isDeviceField(name))
}

function isReserved(word: string): boolean {
  return reservedWords.includes(word.toLowerCase())
}

class Parser {
  readonly #tokens: Token[]
  #next = 0
  #terms = 0
  #depth = 0

  constructor(tokens: Token[]) {
    this.#tokens = tokens
  }

  parse(): Selector {
    const selector = this.#or()
    if (this.#token.kind !== 'end') this.#fail('expected "and", "or" or the end')
    return selector
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token
  }

  #or(): Selector {
    return this.#joined('or', () => this.#joined('and', () => this.#not()))
  }

  #joined(kind: 'and' | 'or', part: () => Selector): Selector {
    const first = part()
    if (!this.#takeWord(kind)) return first
    const of = [first, part()]
    while (this.#takeWord(kind)) of.push(part())
    return { kind, of }
  }

  #not(): Selector {
    if (this.#takeWord('not')) return { kind: 'not', of: this.#primary() }
    return this.#primary()
  }

  #primary(): Selector {
    const opening = this.#token
    if (!this.#takeSign('(')) return this.#term()
    if (++this.#depth > maxDepth) {
      throw new SelectorError(opening.at, `parentheses may be nested at most ${maxDepth} levels deep`)
    }
    const selector = this.#or()
    if (!this.#takeSign(')')) this.#fail('expected ")", "and" or "or"')
    this.#depth--
    return selector
  }

  #term(): SelectorTerm {
    const token = this.#token
    if (token.kind !== 'word') this.#fail('expected a name, "online", "all", "group", "not" or "("')
    if (++this.#terms > maxSelectorTerms) {
      throw new SelectorError(token.at, `a selector has at most ${maxSelectorTerms} terms`)
    }
    if (this.#takeWord('online')) return { kind: 'online' }
    if (this.#takeWord('all')) return { kind: 'all' }
    if (this.#takeWord('group')) {
      if (!this.#takeSign('=')) this.#fail('expected "=" after "group"')
      return { kind: 'group', groupName: this.#value().text, at: token.at }
    }
    const { name, side } = attributeOf(token.text)
    if (!isAttributeName(name) && (side !== undefined || !isDeviceField(name))) this.#fail(notAName)
    this.#next++
    return this.#takeWord('in') ? this.#list(token.text) : this.#comparison(token.text)
  }

  #list(name: string): SelectorTerm {
    if (!this.#takeSign('(')) this.#fail('expected "(" after "in"')
    const values = [this.#value().text]
    while (this.#takeSign(',')) values.push(this.#value().text)
    if (!this.#takeSign(')')) this.#fail('expected "," or ")"')
    return { kind: 'in', name, values }
  }

  #comparison(name: string): SelectorTerm {
    const op = comparisons.find((each) => this.#takeSign(each))
    if (op === undefined)
      this.#fail(`expected one of ${comparisons.join(' ')} or "in" after the name ${name}`)
    const { text: value, at } = this.#value()
    const star = value.indexOf('*')
    if (op === '~' && star >= 0 && star < value.length - 1) {
      throw new SelectorError(at, 'with ~ a * is allowed only at the end of the value')
    }
    return { kind: 'compare', name, op, value }
  }

  #value(): Token {
    const token = this.#token
    if (token.kind !== 'word' && token.kind !== 'quoted') this.#fail('expected a value')
    if (/[\p{Cc}\p{Cs}]/u.test(token.text)) {
      throw new SelectorError(token.at, 'a value must not contain control characters or lone surrogates')
    }
    this.#next++
    return token
  }

  #takeWord(word: string): boolean {
    return this.#take((token) => token.kind === 'word' && token.text.toLowerCase() === word)
  }

  #takeSign(sign: string): boolean {
    return this.#take((token) => token.kind === 'sign' && token.text === sign)
  }

  #take(isWanted: (token: Token) => boolean): boolean {
    if (!isWanted(this.#token)) return false
    this.#next++
    return true
  }

  #fail(message: string): never {
    throw new SelectorError(this.#token.at, message)
  }
}

const notAName =
  'expected a name: tag, deviceId, deviceName or that of an attribute (letters, digits and _ . -, at most 64), ' +
  'which own. or reported. may stand before'
