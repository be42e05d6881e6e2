// Devices as CSV. The header line has the names of fields and attributes; tags are separated by semicolons.

import { ApiError, DeviceContent, maxAttributes } from '@jobcast/contract'
import { type AttributeValue, isAttributeName } from '@jobcast/contract/selector'
import { type Cell, notCsv, readRecord } from './csv.ts'

/** The columns that are not attributes. CSV has no column for the window. */
export const csvFields = [
  'deviceId',
  ...Object.keys(DeviceContent.properties).filter((name) => name !== 'attributes' && name !== 'window'),
]

/** Throws J-500 if the header is missing or invalid, which ends the import. */
export function readHeader(bytes: Buffer | undefined): string[] {
  if (bytes === undefined) throw wrongHeader('it is too long')
  const names = readRecord(bytes).map(({ text }) => text)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrongHeader(`it has ${shown(twice)} twice`)
  if (!names.includes('deviceId')) throw wrongHeader('it has no deviceId')
  const attributes = names.filter((name) => !csvFields.includes(name))
  const wrong = attributes.find((name) => !isAttributeName(name))
  if (wrong !== undefined) throw wrongHeader(`${shown(wrong)} is neither a field nor a name of an attribute`)
  if (attributes.length > maxAttributes) throw wrongHeader(`it has more than ${maxAttributes} attributes`)
  return names
}

/** Returns the fields of a line of NDJSON; empty cells are omitted. Throws J-500. */
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
    else if (csvFields.includes(name)) device[name] = cell.text
    else attributes.push([name, valueOfCell(cell)])
  }
  return attributes.length === 0 ? device : { ...device, attributes: Object.fromEntries(attributes) }
}

function tagsOf(text: string): string[] {
  return text
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

/** A number or boolean if the text is its canonical JSON (the version 2.10 is not); quoted values are always text. */
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
  return new ApiError('J-500', { detail: `Invalid header line: ${why}.` })
}
