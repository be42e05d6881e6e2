// Splits a selector into tokens with positions.

/** `at`: the index of its first character. */
export type Token = { at: number; text: string } & (
  | { kind: 'sign' }
  | { kind: 'word' }
  | { kind: 'quoted' }
  | { kind: 'end' }
)

/** Why a selector is invalid. `position` counts characters from 1. */
export class SelectorError extends Error {
  readonly position: number

  constructor(at: number, message: string) {
    super(message)
    this.name = 'SelectorError'
    this.position = at + 1
  }
}

const signs = ['!=', '<=', '>=', '(', ')', ',', '=', '<', '>', '~']
const space = /\s/u
/** Characters of a value without quotes. */
const wordCharacter = /[\p{L}\p{N}_.:/@+%*-]/u

export function readTokens(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (space.test(characterAt(text, at))) {
      at++
      continue
    }
    const { token, end } = readToken(text, at)
    tokens.push(token)
    at = end
  }
  tokens.push({ kind: 'end', at: text.length, text: '' })
  return tokens
}

function readToken(text: string, at: number): { token: Token; end: number } {
  const sign = signs.find((each) => text.startsWith(each, at))
  if (sign) return { token: { kind: 'sign', at, text: sign }, end: at + sign.length }
  if (text[at] === '"') return readQuoted(text, at)
  let end = at
  while (end < text.length && wordCharacter.test(characterAt(text, end))) end += characterAt(text, end).length
  if (end > at) return { token: { kind: 'word', at, text: text.slice(at, end) }, end }
  throw new SelectorError(
    at,
    `unexpected character ${characterAt(text, at)}; put values with it in double quotes`,
  )
}

function readQuoted(text: string, at: number): { token: Token; end: number } {
  let value = ''
  for (let next = at + 1; next < text.length; next++) {
    const character = text[next]
    if (character === '"') return { token: { kind: 'quoted', at, text: value }, end: next + 1 }
    if (character === '\\') {
      next++
      if (text[next] !== '"' && text[next] !== '\\') {
        throw new SelectorError(
          next - 1,
          'in quotes a backslash is allowed only before " or another backslash',
        )
      }
    }
    value += text[next]
  }
  throw new SelectorError(at, 'the closing double quote is missing')
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0)
}
