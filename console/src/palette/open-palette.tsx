// Ctrl-K or ⌘K loads and opens the command palette.

import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const isOpen = signal(false)

export function openPalette(): void {
  isOpen.value = true
}

export function PaletteShortcut() {
  const [Palette, setPalette] = useState<ComponentType<{ onClose: () => void }>>()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      isOpen.value = !isOpen.value
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const isWanted = isOpen.value
  useEffect(() => {
    if (!isWanted || Palette) return
    import('./palette.tsx').then(
      (loaded) => setPalette(() => loaded.default),
      () => {
        isOpen.value = false // without a connection, searching would fail, too
      },
    )
  }, [isWanted, Palette])
  if (!isWanted || !Palette) return null
  return (
    <Palette
      onClose={() => {
        isOpen.value = false
      }}
    />
  )
}
