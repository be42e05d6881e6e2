// The current path and query, both in the address, so that every view has a link.

import { batch, computed, signal } from '@preact/signals'

const address = signal(new URL(location.href))

export const path = computed(() => address.value.pathname)
export const search = computed(() => address.value.searchParams)

/** The number of the history entry. */
export const entry = signal(entryOf(history.state))

/** The number of screen changes within this page. */
export const screensOpened = signal(0)

window.addEventListener('popstate', ({ state }) => moveTo(new URL(location.href), entryOf(state)))

export function navigate(href: string, how: 'push' | 'replace' = 'push'): void {
  const next = new URL(href, location.href)
  const number = how === 'replace' ? entry.value : Date.now() + Math.random()
  if (how === 'replace') history.replaceState({ entry: number }, '', next)
  else history.pushState({ entry: number }, '', next)
  const isOtherPage = next.pathname !== address.value.pathname
  moveTo(next, number)
  if (isOtherPage && how === 'push') scrollTo(0, 0)
}

function moveTo(next: URL, number: number): void {
  batch(() => {
    if (next.pathname !== address.value.pathname) screensOpened.value++
    address.value = next
    entry.value = number
  })
}

/** Stored by `navigate`; the first entry of a page has none. */
function entryOf(state: unknown): number {
  return (state as { entry?: number } | null)?.entry ?? 0
}

/** The same for a name that may be repeated. */
export function setSearchAll(name: string, values: Iterable<string>): void {
  const next = new URL(address.value)
  next.searchParams.delete(name)
  for (const value of values) next.searchParams.append(name, value)
  if (next.href !== address.value.href) navigate(next.href, 'replace')
}

/** Sets parameters, or removes those that are undefined or empty. Filters create no history entries. */
export function setSearch(changes: Record<string, string | undefined>): void {
  const next = new URL(address.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  navigate(next.href, 'replace')
}

/** Handles clicks on plain links, so that links to our own screens do not reload the page. */
export function listenToLinks(): void {
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (
      url.origin !== location.origin ||
      isServed(url.pathname) ||
      link.getAttribute('href')?.startsWith('#')
    )
      return
    event.preventDefault()
    navigate(link.href)
  })
}

/** Whether the path is served by the server and not by a screen. */
function isServed(pathname: string): boolean {
  return /^\/(auth|docs|job|openapi\.json|metrics)(\/|$)/.test(pathname)
}
