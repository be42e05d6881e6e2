// Executions as a file, read page by page and never all of it in one piece of text.

import type { Execution, ListExecutionsQuery, Query } from '@jobcast/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { csvHead, csvLine } from './csv.ts'

type Kind = 'CSV' | 'JSON'
const types: Record<Kind, string> = { CSV: 'text/csv', JSON: 'application/json' }

/** `name`: of the file, without its ending. */
export function ExportButtons({ query, name }: { query: Query<ListExecutionsQuery>; name: string }) {
  const [count, setCount] = useState(0)
  const life = useRef<AbortController>(undefined)
  useEffect(() => () => life.current?.abort(), [])
  const action = useAction(async (kind: Kind) => {
    life.current = new AbortController()
    const { signal } = life.current
    setCount(0)
    const parts = await collect(kind, query, signal, setCount)
    if (parts) save(new Blob(parts, { type: types[kind] }), `${name}.${kind.toLowerCase()}`)
  })
  if (action.isRunning) {
    return (
      <span class="exporting">
        <span role="status">{formatCount(count)} read</span>
        <button type="button" onClick={() => life.current?.abort()}>
          Stop the export
        </button>
      </span>
    )
  }
  return (
    <>
      {(['CSV', 'JSON'] as const).map((kind) => (
        <button key={kind} type="button" onClick={() => action.run(kind)}>
          Export {kind}
        </button>
      ))}
      <ErrorNote error={action.error} />
    </>
  )
}

/** Undefined when it was stopped. Each page is a part of its own, so that the browser may keep it outside of memory. */
async function collect(
  kind: Kind,
  query: Query<ListExecutionsQuery>,
  signal: AbortSignal,
  onRead: (count: number) => void,
): Promise<Blob[] | undefined> {
  const parts = [new Blob([kind === 'CSV' ? csvHead : '['])]
  let count = 0
  let cursor: string | undefined
  try {
    do {
      const page = await jobcast.executions.list({ ...query, limit: 200, cursor }, { signal }).page()
      parts.push(new Blob([kind === 'CSV' ? page.items.map(csvLine).join('') : jsonLines(page.items, count)]))
      count += page.items.length
      onRead(count)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
  if (kind === 'JSON') parts.push(new Blob(['\n]\n']))
  return parts
}

function jsonLines(items: Execution[], before: number): string {
  return items.map((item, index) => `${before + index === 0 ? '' : ','}\n${JSON.stringify(item)}`).join('')
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000) // when the browser has surely begun
}
