// Text to find devices: a selector of the API, or the beginning of an ID, a name or a tag.

import { parseSelector, SelectorError } from '@jobcast/contract/selector'

export type TypedFilter =
  | { kind: 'none' }
  | { kind: 'where'; where: string }
  /** `position` counts characters from 1. */
  | { kind: 'wrong'; position: number; message: string }

export function readFilter(text: string): TypedFilter {
  const selector = readSelector(text)
  const wanted = text.trim()
  const isMeant = selector.kind === 'wrong' && isPlain(wanted)
  return isMeant ? { kind: 'where', where: beginningWith(wanted) } : selector
}

/** Accepts only selectors, for fields whose value is stored. */
export function readSelector(text: string): TypedFilter {
  const wanted = text.trim()
  if (wanted === '') return { kind: 'none' }
  try {
    parseSelector(wanted)
    return { kind: 'where', where: wanted }
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    const { position, message } = error
    return { kind: 'wrong', position: position + text.indexOf(wanted), message }
  }
}

/** The text contains no operators and no keywords that join terms. */
function isPlain(text: string): boolean {
  return !/[=!<>~()",*]/.test(text) && !/(^|\s)(and|or|not|in|group)(\s|$)/i.test(text)
}

export function beginningWith(text: string, fields = ['deviceId', 'deviceName', 'tag']): string {
  const value = quote(`${text}*`)
  return fields.map((field) => `${field}~${value}`).join(' or ')
}

/** The selector of a group. */
export function whereGroup(groupName: string): string {
  return `group=${quote(groupName)}`
}

export function whereTag(tag: string): string {
  return `tag=${quote(tag)}`
}

/** The conjunction of selectors; empty ones are ignored. */
export function whereAll(wheres: readonly string[]): string {
  const given = wheres.filter((where) => where !== '')
  return given.length === 1 ? String(given[0]) : given.map((where) => `(${where})`).join(' and ')
}

/** Quotes any text as a value of a selector. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
