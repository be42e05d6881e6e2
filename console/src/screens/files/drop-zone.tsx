import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

type Props = { isOn: boolean; onDrop: (file: File) => void; children: ComponentChildren }

/** Accepts the first of the dropped files. */
export function DropZone({ isOn, onDrop, children }: Props) {
  const [isOver, setOver] = useState(false)
  const hasFiles = (event: DragEvent) => isOn && event.dataTransfer?.types.includes('Files')
  return (
    <section
      aria-label="Files"
      class={`drop-zone ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer?.files[0]
        if (file) onDrop(file)
      }}
    >
      {children}
    </section>
  )
}
