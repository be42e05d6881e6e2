// Columns of attributes chosen by the user: in the address, and stored in this browser for the next visit.

import type { Device } from '@jobcast/client'
import { attributeOf, isAttributeName } from '@jobcast/contract/selector'
import type { Column } from '../../parts/data-table.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { search, setSearch } from '../../router.ts'

const columnsAtMost = 6
const storageKey = 'jobcast-device-columns'

/** Names of attributes; `reported.fw` and `own.fw` select one source. */
export function attributeColumns(): string[] {
  const names = (search.value.get('columns') ?? localStorage.getItem(storageKey) ?? '').split(',')
  return [...new Set(names)].filter(isColumn).slice(0, columnsAtMost)
}

function isColumn(name: string): boolean {
  return name === 'timeZone' || isAttributeName(attributeOf(name).name)
}

export function AttributeColumnsField({ rows }: { rows: readonly Device[] }) {
  const change = (names: string[]) => {
    const columns = names.filter(isColumn).slice(0, columnsAtMost).join()
    localStorage.setItem(storageKey, columns)
    setSearch({ columns })
  }
  return (
    <TagsField
      label="Attribute columns"
      values={attributeColumns()}
      onChange={change}
      suggestions={namesIn(rows)}
      placeholder="site, fw"
    />
  )
}

const rowsRead = 1000

function namesIn(rows: readonly Device[]): string[] {
  const names = rows
    .slice(0, rowsRead)
    .flatMap(({ attributes, reportedAttributes }) => [
      ...Object.keys(attributes),
      ...Object.keys(reportedAttributes),
    ])
  return [...new Set(names)].sort()
}

export function attributeColumn(name: string): Column<Device> {
  return {
    name: `attribute-${name}`,
    title: <bdi>{name}</bdi>,
    width: 'minmax(0, 1fr)',
    isMinor: true,
    sortBy: (device) => {
      const value = attributeValue(device, name)
      return typeof value === 'boolean' ? String(value) : (value ?? null)
    },
    cell: (device) => {
      const value = attributeValue(device, name)
      return value === undefined ? <span class="quiet">none</span> : <bdi>{String(value)}</bdi>
    },
  }
}

/** The same rule as in selectors: the owner's value takes precedence over the reported one. */
function attributeValue({ attributes, reportedAttributes, timeZone }: Device, column: string) {
  const { name, side } = attributeOf(column)
  const own = name === 'timeZone' ? (timeZone ?? undefined) : valueIn(attributes, name)
  if (side === 'own') return own
  const reported = valueIn(reportedAttributes, name)
  return side === 'reported' ? reported : (own ?? reported)
}

/** Ignores inherited properties such as `constructor`. */
function valueIn(attributes: Device['attributes'], name: string) {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}
