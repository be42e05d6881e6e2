// Restores the scroll positions of the page and its table after Back.

import { effect } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { entry } from './router.ts'

const positions = new Map<string, number>()
const keptAtMost = 400

function keep(name: string, position: number): void {
  positions.delete(name)
  positions.set(name, position)
  const [oldest] = positions.keys()
  if (positions.size > keptAtMost && oldest !== undefined) positions.delete(oldest)
}

/** The box must have its previous height when it is first drawn, or when the history entry changes. */
export function useKeptScroll(box: { current: HTMLElement | null }, name: string): void {
  const key = `${entry.value} ${name}`
  useLayoutEffect(() => {
    const position = positions.get(key)
    if (position !== undefined) box.current?.scrollTo({ top: position })
  }, [key])
  useEffect(() => {
    const element = box.current
    const onScroll = () => element && keep(key, element.scrollTop)
    element?.addEventListener('scroll', onScroll, { passive: true })
    return () => element?.removeEventListener('scroll', onScroll)
  }, [key])
}

/** A screen grows while it is loading, so the position is restored repeatedly until it is reached or the user scrolls. */
const restoreForMs = 3000

export function keepPageScroll(): void {
  addEventListener('scroll', () => keep(String(entry.peek()), scrollY), { passive: true })
  let restoring = new AbortController()
  effect(() => {
    const position = positions.get(String(entry.value)) ?? 0
    restoring.abort()
    restoring = new AbortController()
    if (position > 0) restore(position, restoring)
  })
}

function restore(position: number, life: AbortController): void {
  const { signal } = life
  const stop = () => life.abort()
  const observer = new ResizeObserver(() => {
    scrollTo({ top: position })
    if (Math.abs(scrollY - position) <= 1) stop()
  })
  observer.observe(document.body)
  const timer = setTimeout(stop, restoreForMs)
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    addEventListener(name, stop, { signal, passive: true })
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    observer.disconnect()
  })
}
