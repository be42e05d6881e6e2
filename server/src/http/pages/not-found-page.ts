// The page for an unknown address that is opened in a browser. Programs, and all paths of the API, get JSON.

import type { FastifyReply, FastifyRequest } from 'fastify'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Page not found - Jobcast</title>
<h1>Page not found</h1>
<p>There is nothing at this address.</p>
<ul>
<li><a href="/">Console</a></li>
<li><a href="/docs">API reference</a></li>
</ul>
</html>
`

export function wantsPage({ method, headers, raw }: FastifyRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (/^[/\\]+(?:job|things)(?:[/\\?#]|$)/i.test(raw.url ?? '')) return false
  return headers.accept?.includes('text/html') ?? false
}

export function sendNotFoundPage(reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      vary: 'accept',
    })
    .send(page)
}
