// A minimal browser for sign-ins: cookies per site, and redirects one by one. Requests to the public-url go to the server of
// the test.

type Visit = { status: number; url: string; text: string; headers: Headers }

export class CookieBrowser {
  /** Maps the public address to the actual one. */
  readonly #served: ReadonlyMap<string, string>
  readonly #cookies = new Map<string, Map<string, string>>()

  constructor(served: Record<string, string>) {
    this.#served = new Map(Object.entries(served))
  }

  cookieOf(origin: string, name: string): string | undefined {
    return this.#cookies.get(origin)?.get(name)
  }

  setCookie(origin: string, name: string, value: string): void {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, jar.set(name, value))
  }

  /** Sends one request and does not follow redirects. */
  async send(address: string, init: RequestInit = {}): Promise<Visit> {
    const url = new URL(address)
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>()
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
    const served = this.#served.get(url.origin) ?? url.origin
    const response = await fetch(served + url.pathname + url.search, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string> | undefined) },
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((each) => each.trim())
      const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
      const isGone =
        value === '' || attributes.some((each) => /^max-age=0$|^expires=thu, 01 jan 1970/i.test(each))
      if (isGone) jar.delete(name)
      else jar.set(name, value)
    }
    this.#cookies.set(url.origin, jar)
    return { status: response.status, url: address, text: await response.text(), headers: response.headers }
  }

  /** Follows redirects until one that matches `until`, which is not followed. */
  async visit(address: string, until?: (next: string) => boolean): Promise<Visit> {
    for (let url = address, steps = 0; ; steps++) {
      const visit = await this.send(url, { headers: { accept: 'text/html' } })
      const location = visit.headers.get('location')
      if (location === null || visit.status < 300 || visit.status >= 400) return visit
      if (steps === 20) throw new Error(`redirected too often, to ${location}`)
      const next = new URL(location, url).href
      if (until?.(next)) return { ...visit, url: next }
      url = next
    }
  }
}
