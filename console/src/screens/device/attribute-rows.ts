// The draft of attributes: texts, each with the type of the value. "2.10" is a version, and would be 2.1 as a number.

import type { Device } from '@jobcast/client'
import { attributeProblem, maxAttributes } from '@jobcast/contract/selector'

type Value = Device['attributes'][string]
export type AttributeType = 'text' | 'number' | 'boolean'
/** `id`: identifies the row during editing. */
export type AttributeRow = { id: number; name: string; text: string; type: AttributeType }

let rows = 0

export function newRow(): AttributeRow {
  return { id: ++rows, name: '', text: '', type: 'text' }
}

export function rowsOf(attributes: Device['attributes']): AttributeRow[] {
  return Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ ...newRow(), name, text: String(value), type: typeOf(value) }))
}

function typeOf(value: Value): AttributeType {
  return typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean'
}

/** Only for valid rows. Rows without a name are omitted. */
export function attributesOf(edited: readonly AttributeRow[]): Device['attributes'] {
  const named = edited.filter(({ name }) => name.trim() !== '')
  return Object.fromEntries(named.map((row) => [row.name.trim(), typedValue(row)]))
}

function typedValue({ text, type }: AttributeRow): Value {
  if (type === 'number') return text.trim() === '' ? Number.NaN : Number(text)
  return type === 'boolean' ? text === 'true' : text
}

export function rowProblem(row: AttributeRow, all: readonly AttributeRow[]): string | undefined {
  const name = row.name.trim()
  if (name === '') return row.text === '' ? undefined : 'A value needs a name.'
  if (all.some((other) => other.id < row.id && other.name.trim() === name)) return `${name} occurs twice.`
  if (row.type === 'number' && !Number.isFinite(typedValue(row))) return `${name} must be a number.`
  const problem = attributeProblem(name, typedValue(row))
  return problem && `${name} ${problem}.`
}

export function tooMany(edited: readonly AttributeRow[]): string | undefined {
  return edited.length > maxAttributes ? `At most ${maxAttributes} attributes.` : undefined
}
