// Selectors as SQL conditions. Values are parameters; `sort_key` has the order of values.

import {
  type AttributeSide,
  afterPrefix,
  attributeOf,
  equalKeysOf,
  literalKeysOf,
  type Selector,
} from '@jobcast/contract/selector'
import { inBoth, type Sql, type Values } from '../queries.ts'
import type { Dialect } from '../schema/column.ts'

type Compare = Extract<Selector, { kind: 'compare' }>
type Listed = Extract<Selector, { kind: 'in' }>
type Ordering = Exclude<Compare['op'], '=' | '!=' | '~'>

/** A statement with a selector. It is not cached, because callers could create any number of them. */
export function withSelector(
  build: (compiler: SelectorCompiler) => string,
  values: Values,
): { sql: Sql; values: Values } {
  let bound: Values = values
  const sql = inBoth(({ is }) => {
    const compiler = new SelectorCompiler(is)
    const text = build(compiler)
    bound = { ...values, ...compiler.values }
    return text
  })
  return { sql: { ...sql, isOnce: true }, values: bound }
}

export class SelectorCompiler {
  readonly values: Record<string, unknown> = {}
  readonly is: Dialect
  #count = 0

  constructor(is: Dialect) {
    this.is = is
  }

  /** The condition for a row of `device`. */
  condition(selector: Selector): string {
    switch (selector.kind) {
      case 'and':
      case 'or':
        return `(${joined(
          selector.of.map((each) => this.condition(each)),
          selector.kind === 'and' ? ' AND ' : ' OR ',
        )})`
      case 'not':
        return `NOT ${this.condition(selector.of)}`
      case 'all':
        return '(1 = 1)'
      case 'online':
        return this.is === 'sqlite' ? '(device.online = 1)' : 'device.online'
      case 'group':
        throw new Error(`group ${selector.groupName} is not replaced`)
      case 'in':
      case 'compare':
        return this.#term(selector)
    }
  }

  /** Counts the rows of the source without looking up devices. */
  sourceSize(selector: Selector): string | undefined {
    const isTag = (selector.kind === 'in' || selector.kind === 'compare') && selector.name === 'tag'
    if (!isTag || (selector.kind === 'compare' && selector.op === '!=')) return this.source(selector)
    return `SELECT tag FROM device_tag WHERE owner_no = :ownerNo AND ${this.#text('tag', selector)}`
  }

  /** Device numbers that an attribute term matches, without duplicates, by an index; also for `!=`. */
  attributeSource(term: Compare | Listed): string {
    const { name, side } = attributeOf(term.name)
    const from = `SELECT device_no FROM device_attribute WHERE owner_no = :ownerNo AND name = ${this.#value(name)}`
    const isOther = term.kind === 'compare' && term.op === '!='
    const ranges = isOther ? [`sort_key NOT IN (${this.#list(equalKeysOf(term.value))})`] : this.#ranges(term)
    return ranges
      .flatMap((range) => sourcesOf[this.is](side).map((rows) => `${from} AND ${rows} AND ${range}`))
      .join(' UNION ALL ')
  }

  /** Device numbers that a term can match, by an index; undefined: no index is suitable. */
  source(selector: Selector): string | undefined {
    if (selector.kind === 'online') {
      return `SELECT device_no FROM device WHERE owner_no = :ownerNo AND ${this.condition(selector)}`
    }
    if (selector.kind !== 'in' && selector.kind !== 'compare') return undefined
    if (selector.kind === 'compare' && selector.op === '!=') return undefined
    if (selector.name === 'deviceName') return undefined
    if (selector.name === 'deviceId') {
      return `SELECT device_no FROM device WHERE owner_no = :ownerNo AND ${this.#text('device.device_id', selector)}`
    }
    if (selector.name === 'tag') return this.#tagSource(selector)
    return this.attributeSource(selector)
  }

  #value(value: unknown): string {
    const name = `p${++this.#count}`
    this.values[name] = value
    return this.is === 'postgres' ? `CAST(:${name} AS text)` : `:${name}`
  }

  #list(values: string[]): string {
    return [...new Set(values)].map((each) => this.#value(each)).join(', ')
  }

  #term(term: Compare | Listed): string {
    if (term.name === 'deviceId') return this.#text('device.device_id', term)
    if (term.name === 'deviceName') return this.#text(`device.device_name${this.#byBytes}`, term)
    if (term.name === 'tag') return this.#tag(term)
    const { name, side } = attributeOf(term.name)
    const own = `device_attribute.device_no = device.device_no AND name = ${this.#value(name)}`
    const found = `SELECT 1 FROM device_attribute WHERE ${own} AND ${countedOf[this.is](side)}`
    if (term.kind === 'compare' && term.op === '!=') {
      return this.#exists(`${found} AND sort_key NOT IN (${this.#list(equalKeysOf(term.value))})`)
    }
    return this.#exists(`${found} AND (${this.#ranges(term).join(' OR ')})`)
  }

  /**
   * Looked up for each device by its index. Without OFFSET PostgreSQL converts it to a join, which compares all devices with all
   * rows as long as there are no statistics.
   */
  #exists(found: string): string {
    return `EXISTS (${found}${this.is === 'postgres' ? ' OFFSET 0' : ''})`
  }

  get #byBytes(): string {
    return this.is === 'sqlite' ? '' : ' COLLATE "C"'
  }

  #text(column: string, term: Compare | Listed): string {
    if (term.kind === 'in') return `${column} IN (${this.#list(term.values)})`
    const { op, value } = term
    if (op !== '~') return `${column} ${op} ${this.#value(value)}`
    return value.endsWith('*')
      ? this.#prefix(column, value.slice(0, -1))
      : `${column} = ${this.#value(value)}`
  }

  #prefix(column: string, prefix: string): string {
    const end = afterPrefix(prefix)
    const below = end === undefined ? '' : ` AND ${column} < ${this.#value(end)}`
    return `(${column} >= ${this.#value(prefix)}${below})`
  }

  #tag(term: Compare | Listed): string {
    const tagged = 'SELECT 1 FROM device_tag WHERE device_tag.owner_no = device.owner_no'
    const own = `${tagged} AND device_tag.device_id = device.device_id`
    const values = term.kind === 'in' ? term.values : [term.value]
    if (
      (term.kind === 'in' || term.op === '=' || term.op === '!=') &&
      values.every((each) => plainTag.test(each))
    ) {
      const found = `(${joined(
        [...new Set(values)].map((each) => this.#inRow(each)),
        ' OR ',
      )})`
      return term.kind === 'compare' && term.op === '!=' ? `NOT ${found}` : found
    }
    if (term.kind === 'in') return this.#exists(`${own} AND tag IN (${this.#list(term.values)})`)
    if (term.op === '=') return this.#exists(`${own} AND tag = ${this.#value(term.value)}`)
    if (term.op === '!=') return `NOT ${this.#exists(`${own} AND tag = ${this.#value(term.value)}`)}`
    // There is no index of tags by device, but the row of the device has its tags.
    const each =
      this.is === 'sqlite'
        ? 'json_each(device.tags)'
        : 'json_array_elements_text(device.tags::json) AS each (value)'
    return `EXISTS (SELECT 1 FROM ${each} WHERE ${this.#text(`value${this.#byBytes}`, term)})`
  }

  /** Uses the JSON list of tags in the row of the device, which is four times as fast as the index of tags. */
  #inRow(tag: string): string {
    const find = this.is === 'sqlite' ? 'instr' : 'strpos'
    const at = (before: string) => `${find}(device.tags, ${this.#value(`${before}"${tag}"`)}) > 0`
    return `${at('[')} OR ${at(',')}`
  }

  #tagSource(term: Compare | Listed): string {
    const joined = this.is === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
    return `SELECT device_no FROM device_tag ${joined} device ON device.owner_no = device_tag.owner_no
      AND device.device_id = device_tag.device_id WHERE device_tag.owner_no = :ownerNo AND ${this.#text('tag', term)}`
  }

  /** Disjoint ranges of an index by name and sort key. */
  #ranges(term: Compare | Listed): string[] {
    if (term.kind === 'in') return [`sort_key IN (${this.#list(term.values.flatMap(equalKeysOf))})`]
    const { op, value } = term
    if (op === '=' || op === '!=') return [`sort_key IN (${this.#list(equalKeysOf(value))})`]
    if (op === '~') return this.#textRanges(value)
    const { number, version, text, plain } = literalKeysOf(value)
    return [
      this.#ordered('n', op, number, plain),
      this.#ordered('t', op, text, plain),
      this.#ordered('v', op, version, plain),
    ]
  }

  /** Compares values of one class; without a key of that class they are compared as text. */
  #ordered(of: 'n' | 't' | 'v', op: Ordering, key: string | undefined, literal: string): string {
    const compared =
      key === undefined ? `${plainText} ${op} ${this.#value(literal)}` : `sort_key ${op} ${this.#value(key)}`
    const [first, end] = [`sort_key >= '${of}'`, `sort_key < '${next[of]}'`]
    if (key === undefined) return `(${first} AND ${end} AND ${compared})`
    return `(${op.startsWith('<') ? first : end} AND ${compared})`
  }

  #textRanges(value: string): string[] {
    const isPrefix = value.endsWith('*')
    const text = isPrefix ? value.slice(0, -1) : value
    if (isPrefix && text === '') return ["sort_key >= ''"]
    const matching = (column: string, wanted: string) =>
      isPrefix ? this.#prefix(column, wanted) : `${column} = ${this.#value(wanted)}`
    const others = (['n', 'v'] as const).map(
      (of) => `(sort_key >= '${of}' AND sort_key < '${next[of]}' AND ${matching(plainText, text)})`,
    )
    return [matching('sort_key', `t${text}`), ...others]
  }
}

type OfSide<T> = Record<Dialect, (side: AttributeSide | undefined) => T>

/** The rows of a device that apply to a name with this side, or without one. */
const countedOf: OfSide<string> = {
  sqlite: (side) => (side ? `reported = ${side === 'own' ? 0 : 1}` : 'shadowed = 0'),
  postgres: (side) => (side ? `${side === 'own' ? 'NOT ' : ''}reported` : 'NOT shadowed'),
}

/** The same rows in the indexes of values: one has rows that are not shadowed, the other shadowed ones, which are all reported. */
export const sourcesOf: OfSide<string[]> = {
  sqlite: (side) =>
    side === undefined
      ? ['shadowed = 0']
      : [`shadowed = 0 AND ${countedOf.sqlite(side)}`, ...(side === 'own' ? [] : ['shadowed = 1'])],
  postgres: (side) =>
    side === undefined
      ? ['NOT shadowed']
      : [`NOT shadowed AND ${countedOf.postgres(side)}`, ...(side === 'own' ? [] : ['shadowed'])],
}

/** Nests halves in parentheses, because each item of a flat list adds a level and SQLite has a limit of 1000. */
function joined(parts: string[], operator: ' AND ' | ' OR '): string {
  if (parts.length <= 3) return parts.join(operator)
  const middle = Math.ceil(parts.length / 2)
  const [one, other] = [parts.slice(0, middle), parts.slice(middle)]
  return `(${joined(one, operator)})${operator}(${joined(other, operator)})`
}

/** Tags that can be found unambiguously in JSON text: a quotation mark after a bracket or a comma begins a tag. */
const plainTag = /^[\w.:/-]+$/

const next = { n: 'o', t: 'u', v: 'w' } as const
/** For numbers and versions, which contain no escapes. */
const plainText = `trim(value, '"')`
