import type { Page, Response } from 'playwright-core'

type Loaded = { bytes: number; files: number }

/** Scripts and styles that the page has loaded since this call, as the server sends them (gzipped). */
export function countLoaded(page: Page): { loaded: Loaded; stop(): void } {
  const loaded = { bytes: 0, files: 0 }
  const count = (response: Response) => {
    if (!/\.(js|css)$/.test(new URL(response.url()).pathname)) return
    loaded.bytes += Number(response.headers()['content-length'] ?? Number.POSITIVE_INFINITY)
    loaded.files++
  }
  page.on('response', count)
  return { loaded, stop: () => void page.off('response', count) }
}
