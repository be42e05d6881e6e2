// Compares values: numbers as numbers, dotted versions part by part (2.10 is above 2.9), everything else as text.
// Each value has a sort key, a text that has the same order in both databases; its first character is its class.

export type AttributeValue = string | number | boolean

/**
 * The keys by which a literal in a selector is compared with values of each class. `plain`: the text that is compared with
 * numbers if the literal is not a number.
 */
export type LiteralKeys = {
  number: string | undefined
  version: string | undefined
  text: string
  plain: string
}

/** A leading v is ignored. */
const versionRule = /^v?(\d+(?:\.\d+)*)$/
/** A pre-release or a build requires a dot before it: 2026-11-15 is a date. */
const releaseRule = /^v?(\d+(?:\.\d+)+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z.-]+))?$/
const negativeRule = /^-\d+(?:\.\d+)?$/
const numberRule = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** The text of a value in a selector. */
export function textOfValue(value: AttributeValue): string {
  return String(value)
}

/** n: numbers, t: text, v: versions. */
export function sortKeyOf(value: AttributeValue): string {
  if (typeof value === 'number') return numberKey(value)
  const text = textOfValue(value)
  return versionKey(text) ?? (negativeRule.test(text) ? numberKey(Number(text)) : `t${text}`)
}

export function literalKeysOf(text: string): LiteralKeys {
  const version = versionKey(text)
  const plain = version !== undefined && text.startsWith('v') ? text.slice(1) : text
  const number = numberRule.test(plain) ? Number(plain) : Number.NaN
  return {
    number: Number.isFinite(number) ? numberKey(number) : undefined,
    version,
    text: `t${text}`,
    plain,
  }
}

/** Keys of the values that equal the literal. */
export function equalKeysOf(literal: string): string[] {
  const { number, version, text } = literalKeysOf(literal)
  return [number, version, text].filter((key) => key !== undefined)
}

/** Negative: the value is below the literal. */
export function compareWithLiteral(value: AttributeValue, literal: string): number {
  return compareWithKeys(value, sortKeyOf(value), literalKeysOf(literal))
}

/** `key`: the sort key of the value. */
export function compareWithKeys(value: AttributeValue, key: string, literal: LiteralKeys): number {
  const other = key[0] === 'n' ? literal.number : key[0] === 'v' ? literal.version : literal.text
  if (other !== undefined) return compareText(key, other)
  return compareText(textOfValue(value), literal.plain)
}

/** By code points, as UTF-8 is ordered in both databases. */
export function compareText(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    // Surrogates encode characters above U+FFFF, but as numbers they are below U+E000.
    if (a !== b) return isSurrogate(a) === isSurrogate(b) ? a - b : isSurrogate(a) ? 1 : -1
  }
  return one.length - other.length
}

/** The first text above all texts with the prefix; undefined: there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const characters = [...prefix]
  while (characters.length > 0) {
    const last = (characters.pop() as string).codePointAt(0) as number
    if (last < 0x10ffff)
      return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}

/** The bits of a double, changed so that they have the order of the numbers. */
function numberKey(value: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value === 0 ? 0 : value)
  const bits = view.getBigUint64(0)
  const ordered = bits >> 63n ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n)
  return `n${ordered.toString(16).padStart(16, '0')}`
}

/**
 * Each part as its length and its digits; trailing parts of 0 are omitted, so 2.4 equals 2.4.0. They are followed by `!` for a
 * pre-release, which is below its release, or `#` for a release; digits of further parts are above both.
 */
function versionKey(text: string): string | undefined {
  const match = versionRule.exec(text) ?? releaseRule.exec(text)
  if (!match) return undefined
  const pieces = (match[1] as string).split('.').map(pieceKey)
  while (pieces.at(-1) === '000') pieces.pop()
  const build = match[3] === undefined ? '' : `+${match[3]}`
  if (match[2] === undefined) return `v${pieces.join('')}#${build}`
  const identifiers = match[2]
    .split('.')
    .map((each) => (/^\d+$/.test(each) ? `0${pieceKey(each)}` : `1${each}`))
  return `v${pieces.join('')}!${identifiers.join('!')}#${build}`
}

function pieceKey(digits: string): string {
  const significant = digits.replace(/^0+/, '')
  return String(significant.length).padStart(3, '0') + significant
}
