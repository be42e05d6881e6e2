// Devices from a CSV table: columns for the deviceId and the fields of a device, with tags separated by commas or semicolons;
// every other column is an attribute.

import { type ImportedDevice, resources } from '@jobcast/client'
import { type CsvRow, parseCsv } from './parse-csv.ts'

export type CsvDevices = {
  devices: { line: number; device: ImportedDevice }[]
  attributes: string[]
  problem: string | undefined
}

/** Columns that are not attributes. Tables have no column for the window, as in the CSV format of the API. */
export const ownColumns: readonly string[] = [
  'deviceId',
  ...resources.devices.fields.filter((name) => name !== 'attributes' && name !== 'window'),
]

export function devicesOfCsv(text: string): CsvDevices {
  const [head, ...rows] = parseCsv(text)
  const columns = head?.cells.map((name) => name.trim()) ?? []
  const attributes = columns.filter((name) => name !== '' && !ownColumns.includes(name))
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index)
  if (!columns.includes('deviceId'))
    return {
      devices: [],
      attributes,
      problem: 'The first line must contain the column names, including deviceId.',
    }
  if (twice) return { devices: [], attributes, problem: `The column ${twice} occurs twice.` }
  const devices = rows.map((row) => ({ line: row.line, device: deviceOf(row, columns, attributes) }))
  return { devices, attributes, problem: devices.length === 0 ? 'The file contains no devices.' : undefined }
}

function deviceOf({ cells }: CsvRow, columns: string[], attributes: string[]): ImportedDevice {
  const cell = (name: string) => cells[columns.indexOf(name)]?.trim() ?? ''
  const tags = cell('tags')
    .split(/[,;]/)
    .map((tag) => tag.trim())
    .filter(Boolean)
  const given = attributes.filter((name) => cell(name) !== '')
  const texts = ownColumns.filter((name) => name !== 'deviceId' && name !== 'tags' && cell(name) !== '')
  return {
    deviceId: cell('deviceId'),
    ...Object.fromEntries(texts.map((name) => [name, cell(name)])),
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
    ...(given.length > 0 && {
      attributes: Object.fromEntries(given.map((name) => [name, attributeOf(cell(name))])),
    }),
  }
}

/** Only canonical numbers are numbers; 007 and 2.4.0 are text. */
function attributeOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text) && !/\.\d*0$/.test(text) ? Number(text) : text
}
