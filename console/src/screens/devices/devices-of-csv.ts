// Devices of a table: the columns deviceId, deviceName, tags (separated by commas or semicolons) and timeZone; every other
// column is an attribute.

import type { ImportedDevice } from '@jobcast/client'
import { type CsvRow, parseCsv } from './parse-csv.ts'

export type CsvDevices = {
  devices: { line: number; device: ImportedDevice }[]
  attributes: string[]
  problem: string | undefined
}

/** Columns that are no attributes; a window is not in a table, as in CSV of the API. */
const own: Record<Exclude<keyof ImportedDevice, 'attributes' | 'window'>, true> = {
  ...{ deviceId: true, deviceName: true, tags: true, timeZone: true },
}

export function devicesOfCsv(text: string): CsvDevices {
  const [head, ...rows] = parseCsv(text)
  const columns = head?.cells.map((name) => name.trim()) ?? []
  const attributes = columns.filter((name) => name !== '' && !Object.hasOwn(own, name))
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
  return {
    deviceId: cell('deviceId'),
    ...(cell('deviceName') && { deviceName: cell('deviceName') }),
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
    ...(cell('timeZone') && { timeZone: cell('timeZone') }),
    ...(given.length > 0 && {
      attributes: Object.fromEntries(given.map((name) => [name, attributeOf(cell(name))])),
    }),
  }
}

/** Numbers as they are written by machines; 007 and 2.4.0 are texts. */
function attributeOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text) && !/\.\d*0$/.test(text) ? Number(text) : text
}
