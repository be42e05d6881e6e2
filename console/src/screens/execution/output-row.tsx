import type { Line } from './ansi.ts'
import { piecesOf } from './row-pieces.ts'

type Props = {
  line: Line
  /** Undefined for the continuation of a line. */
  number: number | undefined
  from: number
  to: number
  top: number
  search: string
  isCurrent: boolean
}

/** Renders text and spans, never HTML, because output is untrusted. */
export function OutputRow({ line, number, from, to, top, search, isCurrent }: Props) {
  return (
    <div class={`output-row ${isCurrent ? 'current' : ''}`} style={{ transform: `translateY(${top}px)` }}>
      <span class="line-number" data-number={number ?? ''} title="Link to this line" />
      <span class="line-text">
        {piecesOf(line, from, to, search).map((piece, index) => {
          // Pieces are identified by their index.
          if (piece.isFound) return <mark key={index}>{piece.text}</mark>
          if (piece.classes === '') return piece.text
          return (
            <span key={index} class={piece.classes}>
              {piece.text}
            </span>
          )
        })}
      </span>
    </div>
  )
}
