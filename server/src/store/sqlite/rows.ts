// What the statement files share: the shape of a row, and the cut of a list into slices.

import type { SQLOutputValue } from 'node:sqlite'

export type Row = Record<string, SQLOutputValue>

export { sliced } from '../sliced.ts'
