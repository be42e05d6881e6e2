/** A text with marked letters of a search match. */
export function Marked({ text, positions }: { text: string; positions: number[] }) {
  if (positions.length === 0) return <>{text}</>
  const marked = new Set(positions)
  const pieces: { text: string; isMarked: boolean }[] = []
  for (const [index, letter] of [...text].entries()) {
    const isMarked = marked.has(index)
    const last = pieces.at(-1)
    if (last?.isMarked === isMarked) last.text += letter
    else pieces.push({ text: letter, isMarked })
  }
  return (
    <>
      {pieces.map((piece, index) =>
        // Pieces are identified by their index.
        piece.isMarked ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </>
  )
}
