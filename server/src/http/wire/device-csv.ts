// Devices as CSV: deviceId, deviceName, tags separated by ;, timeZone, and attributes, by the names in the header line.

import { ApiError, maxAttributes } from '@jobcast/contract'
import { type AttributeValue, isAttributeName } from '@jobcast/contract/selector'
import { type Cell, notCsv, readRecord } from './csv.ts'

/** Throws J-500: without names nothing can be read. */
export function readHeader(bytes: Buffer | undefined): string[] {
  if (bytes === undefined) throw wrongHeader('it is too long')
  const names = readRecord(bytes).map(({ text }) => text)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrongHeader(`it has ${shown(twice)} twice`)
  if (!names.includes('deviceId')) throw wrongHeader('it has no deviceId')
  const attributes = names.filter((name) => !fields.includes(name))
  const wrong = attributes.find((name) => !isAttributeName(name))
  if (wrong !== undefined) throw wrongHeader(`${shown(wrong)} is neither a field nor a name of an attribute`)
  if (attributes.length > maxAttributes) throw wrongHeader(`it has more than ${maxAttributes} attributes`)
  return names
}

/** As a line of NDJSON would have it: an empty cell is no value. Throws J-500. */
export function readDevice(bytes: Buffer, names: string[]): Record<string, unknown> {
  const cells = readRecord(bytes)
  if (cells.length !== names.length) {
    throw notCsv(`it has ${cells.length} values, and the header line ${names.length}`)
  }
  const device: Record<string, unknown> = {}
  const attributes: [string, AttributeValue][] = []
  for (const [index, name] of names.entries()) {
    const cell = cells[index] as Cell
    if (cell.text === '') continue
    if (name === 'tags') device.tags = tagsOf(cell.text)
    else if (fields.includes(name)) device[name] = cell.text
    else attributes.push([name, valueOfCell(cell)])
  }
  return attributes.length === 0 ? device : { ...device, attributes: Object.fromEntries(attributes) }
}

const fields = ['deviceId', 'deviceName', 'tags', 'timeZone']

function tagsOf(text: string): string[] {
  return text
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

/** A number, true or false where the text is what JSON writes for one, which the version 2.10 is not; in quotes it is text. */
function valueOfCell({ text, isQuoted }: Cell): AttributeValue {
  if (isQuoted) return text
  const number = Number(text)
  if (Number.isFinite(number) && String(number) === text) return number
  return text === 'true' || (text === 'false' ? false : text)
}

function shown(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name)
}

function wrongHeader(why: string): ApiError {
  return new ApiError('J-500', { detail: `The header line cannot be used: ${why}.` })
}
