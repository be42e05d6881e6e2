// What somebody types to find devices: a selector of the API, or just how an ID, a name or a tag begins.

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

/** Nothing but a selector, where it is kept for others. */
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

/** No sign of the language, and none of the words that join terms. */
function isPlain(text: string): boolean {
  return !/[=!<>~()",*]/.test(text) && !/(^|\s)(and|or|not|in|group)(\s|$)/i.test(text)
}

function beginningWith(text: string): string {
  const value = quote(`${text}*`)
  return ['deviceId', 'deviceName', 'tag'].map((field) => `${field}~${value}`).join(' or ')
}

/** The selector of a group. */
export function whereGroup(groupName: string): string {
  return `group=${quote(groupName)}`
}

export function whereTag(tag: string): string {
  return `tag=${quote(tag)}`
}

/** Of selectors, what all of them match; empty ones say nothing. */
export function whereAll(wheres: readonly string[]): string {
  const given = wheres.filter((where) => where !== '')
  return given.length === 1 ? String(given[0]) : given.map((where) => `(${where})`).join(' and ')
}

/** As a value of a selector, whatever it holds. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
