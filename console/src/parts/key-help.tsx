// Keyboard shortcuts: `g` and a letter opens a screen, `/` focuses the search, `?` shows all shortcuts.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { navigate } from '../router.ts'
import { routes } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { lazyPart } from './lazy-part.tsx'
import type { ShortcutsProps } from './shortcuts.tsx'

const Shortcuts = lazyPart<ShortcutsProps>(() => import('./shortcuts.tsx'))

export const isKeyHelpOpen = signal(false)

const secondKeyWithinMs = 1500

export function KeyHelp() {
  const { can } = useScopes()
  const reachable = routes.flatMap(({ nav, path, title, scopes }) =>
    nav && scopes.some(can) ? [{ ...nav, path, title }] : [],
  )
  useEffect(() => {
    let gPressedAt = Number.NEGATIVE_INFINITY
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const target = reachable.find(({ key }) => key === event.key)
      if (target && performance.now() - gPressedAt < secondKeyWithinMs) {
        gPressedAt = Number.NEGATIVE_INFINITY
        event.preventDefault()
        navigate(target.path)
      } else if (event.key === 'g') gPressedAt = performance.now()
      else if (event.key === '?') isKeyHelpOpen.value = !isKeyHelpOpen.value
      else if (event.key === '/') focusSearch(event)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
  if (!isKeyHelpOpen.value) return null
  return <Shortcuts reachable={reachable} onClose={close} />
}

function close(): void {
  isKeyHelpOpen.value = false
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}

/** A screen has at most one search field. */
function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
  if (!search) return
  event.preventDefault()
  search.focus()
}
