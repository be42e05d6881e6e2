// Tables: columns as wide as their content, cut to the width of the terminal.

import type { Paint } from './colors.ts'
import { cutText, padText, plainText, textWidth } from './text-width.ts'

export type Column<T> = {
  title: string
  /** Null and undefined are shown as a dash. */
  of: (row: T) => string | number | boolean | null | undefined
  /** Colours a cell. */
  paint?: (text: string, row: T, paint: Paint) => string
}

type TableStyle = {
  paint: Paint
  /** Width of the terminal; undefined in a pipe, where nothing is cut. */
  columns: number | undefined
}

const gap = '  '

export function tableText<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { paint, columns: width }: TableStyle,
): string {
  const cells = rows.map((row) => columns.map(({ of }) => plainText(String(of(row) ?? '-'))))
  const widths = columns.map(({ title }, at) =>
    cells.reduce((max, cell) => Math.max(max, textWidth(cell[at] ?? '')), textWidth(title)),
  )
  const line = (texts: string[]) => {
    const padded = texts.map((text, at) => (at < columns.length - 1 ? padText(text, widths[at] ?? 0) : text))
    const joined = padded.join(gap)
    return width === undefined ? joined : cutText(joined, width)
  }
  const head = line(columns.map(({ title }) => paint('bold', title)))
  const body = rows.map((row, rowNo) =>
    line(
      columns.map(({ paint: paintCell }, at) => {
        const text = cells[rowNo]?.[at] ?? ''
        return paintCell ? paintCell(text, row, paint) : text
      }),
    ),
  )
  return [head, ...body].join('\n')
}

/** One resource, one field per line. */
export function fieldsText(fields: Record<string, string | number | null | undefined>, paint: Paint): string {
  const names = Object.keys(fields)
  const width = names.reduce((max, name) => Math.max(max, textWidth(name)), 0)
  return names
    .map((name) => `${paint('bold', padText(name, width))}  ${plainText(String(fields[name] ?? '-'))}`)
    .join('\n')
}
