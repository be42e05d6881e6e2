import type { ListExecutionsQuery, Query } from '@jobcast/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import type { ExportKind } from './collect-export.ts'

/** `name`: the name of the file without extension. */
export function ExportButtons({ query, name }: { query: Query<ListExecutionsQuery>; name: string }) {
  const [count, setCount] = useState(0)
  const life = useRef<AbortController>(undefined)
  useEffect(() => () => life.current?.abort(), [])
  const action = useAction(async (kind: ExportKind) => {
    life.current = new AbortController()
    const { signal } = life.current
    setCount(0)
    const { collect, save } = await import('./collect-export.ts')
    const file = await collect(kind, query, signal, setCount)
    if (file) save(file, `${name}.${kind.toLowerCase()}`)
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
