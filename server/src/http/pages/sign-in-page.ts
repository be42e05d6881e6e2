// Pages of a sign-in with OpenID Connect that did not end in the console: no role, a choice of owners, or an error.

import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

export type Link = { href: string; text: string }

type SignInPage = {
  status: number
  title: string
  /** One paragraph each. */
  text: string[]
  /** A list between the text and the links. */
  items?: string[]
  links: Link[]
}

const maxItems = 50

/** Separate styles, because those of the console exist only after its build. */
const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 12vh auto; padding: 0 1.5rem; overflow-wrap: anywhere }
h1 { font-size: 1.3rem }
.links { display: flex; flex-wrap: wrap; gap: .75rem; padding: 0; list-style: none }
.links a { display: block; padding: .4rem .9rem; border: 1px solid; border-radius: 6px; color: inherit; text-decoration: none }
.links a:hover { text-decoration: underline }
`
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function sendSignInPage(
  reply: FastifyReply,
  { status, title, text, items = [], links }: SignInPage,
): FastifyReply {
  const listed = items.slice(0, maxItems).map((each) => `<li>${escapeHtml(each)}</li>`)
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} - Jobcast</title>
<style>${style}</style>
<h1>${escapeHtml(title)}</h1>
${text.map((each) => `<p>${escapeHtml(each)}</p>`).join('\n')}
${listed.length === 0 ? '' : `<ul>\n${listed.join('\n')}\n</ul>`}
<ul class="links">
${links.map(({ href, text }) => `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></li>`).join('\n')}
</ul>
</html>
`
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    })
    .send(page)
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
