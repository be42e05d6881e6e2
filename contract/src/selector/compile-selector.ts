// Compiles a selector to a function, for very many devices: everything that depends only on the selector is computed once.

import {
  type AttributeValue,
  compareWithKeys,
  equalKeysOf,
  literalKeysOf,
  sortKeyOf,
} from './compare-values.ts'
import { attributeReader, matchesSelector, type SelectableDevice } from './matches-selector.ts'
import { isDeviceField, type Selector } from './selector.ts'

export type CompiledSelector = (device: SelectableDevice) => boolean
type Compare = Extract<Selector, { kind: 'compare' }>

/** Returns the same result as `matchesSelector`. */
export function compileSelector(selector: Selector): CompiledSelector {
  switch (selector.kind) {
    case 'and': {
      const all = selector.of.map(compileSelector)
      return (device) => all.every((matches) => matches(device))
    }
    case 'or': {
      const any = selector.of.map(compileSelector)
      return (device) => any.some((matches) => matches(device))
    }
    case 'not': {
      const matches = compileSelector(selector.of)
      return (device) => !matches(device)
    }
    case 'in':
      return isDeviceField(selector.name)
        ? (device) => matchesSelector(selector, device)
        : equals(selector.name, new Set(selector.values.flatMap(equalKeysOf)), true)
    case 'compare':
      return compileComparison(selector)
    default:
      return (device) => matchesSelector(selector, device)
  }
}

function compileComparison(term: Compare): CompiledSelector {
  const { name, op, value } = term
  if (isDeviceField(name) || op === '~') return (device) => matchesSelector(term, device)
  if (op === '=' || op === '!=') return equals(name, new Set(equalKeysOf(value)), op === '=')
  const keys = literalKeysOf(value)
  const read = attributeReader(name)
  return (device) => {
    const found = read(device)
    if (found === undefined) return false
    const order = compareWithKeys(found, keyOf(found), keys)
    if (order === 0) return op === '<=' || op === '>='
    return order < 0 === (op === '<' || op === '<=')
  }
}

function equals(name: string, keys: ReadonlySet<string>, isWanted: boolean): CompiledSelector {
  const read = attributeReader(name)
  return (device) => {
    const found = read(device)
    return found !== undefined && keys.has(keyOf(found)) === isWanted
  }
}

/** Cache size: devices of a fleet have few different values. */
const keptKeys = 10_000
const keys = new Map<AttributeValue, string>()

function keyOf(value: AttributeValue): string {
  let key = keys.get(value)
  if (key === undefined) {
    key = sortKeyOf(value)
    if (keys.size >= keptKeys) keys.clear()
    keys.set(value, key)
  }
  return key
}
