// Whether a device matches a selector whose groups are already replaced.

import {
  type AttributeValue,
  compareText,
  compareWithLiteral,
  equalKeysOf,
  sortKeyOf,
  textOfValue,
} from './compare-values.ts'
import { attributeOf, type Selector } from './selector.ts'

export type SelectableDevice = {
  deviceId: string
  deviceName: string
  tags: readonly string[]
  online: boolean
  /** Set by its owner. */
  attributes: Readonly<Record<string, AttributeValue>>
  /** Reported by the device. */
  reportedAttributes: Readonly<Record<string, AttributeValue>>
}

/** The name may begin with `own.` or `reported.`. The reader returns undefined if the device has no such attribute. */
export function attributeReader(name: string): (device: SelectableDevice) => AttributeValue | undefined {
  const { name: bare, side } = attributeOf(name)
  if (side === 'own') return ({ attributes }) => valueIn(attributes, bare)
  if (side === 'reported') return ({ reportedAttributes }) => valueIn(reportedAttributes, bare)
  return ({ attributes, reportedAttributes }) =>
    valueIn(attributes, bare) ?? valueIn(reportedAttributes, bare)
}

function valueIn(attributes: SelectableDevice['attributes'], name: string): AttributeValue | undefined {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

type Compare = Extract<Selector, { kind: 'compare' }>

export function matchesSelector(selector: Selector, device: SelectableDevice): boolean {
  switch (selector.kind) {
    case 'and':
      return selector.of.every((each) => matchesSelector(each, device))
    case 'or':
      return selector.of.some((each) => matchesSelector(each, device))
    case 'not':
      return !matchesSelector(selector.of, device)
    case 'all':
      return true
    case 'online':
      return device.online
    case 'group':
      throw new Error(`group ${selector.groupName} is not replaced`)
    case 'in':
      return selector.values.some((value) =>
        compares({ ...selector, kind: 'compare', op: '=', value }, device),
      )
    case 'compare':
      return compares(selector, device)
  }
}

/** Tags, deviceId and deviceName are compared as text. `tag != x` matches if no tag of the device equals x. */
function compares(term: Compare, device: SelectableDevice): boolean {
  const { name } = term
  if (name === 'tag' && term.op === '!=') return !device.tags.includes(term.value)
  if (name === 'tag') return device.tags.some((tag) => holdsForText(term, tag))
  if (name === 'deviceId' || name === 'deviceName') return holdsForText(term, device[name])
  const value = attributeReader(name)(device)
  if (value === undefined) return false
  if (term.op === '~') return holdsForText(term, textOfValue(value))
  if (term.op === '=' || term.op === '!=') {
    return equalKeysOf(term.value).includes(sortKeyOf(value)) === (term.op === '=')
  }
  return holds(term.op, compareWithLiteral(value, term.value))
}

function holdsForText({ op, value }: Compare, text: string): boolean {
  if (op !== '~') return holds(op, compareText(text, value))
  return value.endsWith('*') ? text.startsWith(value.slice(0, -1)) : text === value
}

function holds(op: Exclude<Compare['op'], '~'>, order: number): boolean {
  switch (op) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}
