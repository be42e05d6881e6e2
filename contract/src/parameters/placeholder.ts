// Placeholders in the texts of a document: ${params.x}, ${secrets.TOKEN}, ${device.deviceId}, ${device.attributes.site:-none},
// ${run.runId}, ${file.app.url}, ${file.app@1.4.sha256}, and AWS's ${aws:iot:s3-presigned-url-v2:https://…}.
// Placeholders have no logic. `$${` is an escaped `${`.

/** `otherwise`: the text after `:-`, used if there is no value. */
export type Placeholder = { from: PlaceholderSource; name: string; otherwise: string | undefined }
export type PlaceholderSource = 'params' | 'secrets' | 'file' | 'object' | 'attributes' | 'device' | 'run'

/** A placeholder, or the text between placeholders. */
export type TextPart = string | Placeholder

export class PlaceholderError extends Error {
  override readonly name = 'PlaceholderError'
}

const maxPlaceholderLength = 512
const opening = '${'
const named = /^(params|device\.attributes)\.([A-Za-z_][A-Za-z0-9_.-]{0,63})(?::-([\s\S]*))?$/
// Secrets have no default: a missing secret is a mistake, and text in a document is not secret.
const ofSecret = /^secrets\.([A-Za-z_][A-Za-z0-9_-]{0,63})$/
// The last dot is the separator, because versions may contain dots. Files have no default, like secrets.
const ofFile = /^file\.([A-Za-z0-9_-]{1,64}(?:@[A-Za-z0-9._+-]{1,64})?\.(?:url|sha256|sha1|size|version))$/
// AWS's placeholder for an object of a bucket: a URL, or BUCKET/KEY. Its name is all of the text.
const ofObject = /^aws:iot:s3-presigned-url(?:-v2)?:([!-z|~]{1,2048})$/
const fixed: Record<string, Placeholder> = {
  'device.deviceId': { from: 'device', name: 'deviceId', otherwise: undefined },
  'device.deviceName': { from: 'device', name: 'deviceName', otherwise: undefined },
  'run.runId': { from: 'run', name: 'runId', otherwise: undefined },
}

/** From left to right; adjacent texts are merged. Throws a PlaceholderError for a `${` without a placeholder. */
export function parseText(text: string): TextPart[] {
  const parts: TextPart[] = []
  let plain = ''
  let at = 0
  for (let found = text.indexOf(opening); found >= 0; found = text.indexOf(opening, at)) {
    if (found > at && text[found - 1] === '$') {
      plain += text.slice(at, found - 1) + opening
      at = found + opening.length
      continue
    }
    const end = text.indexOf('}', found)
    plain += text.slice(at, found)
    if (plain !== '') parts.push(plain)
    plain = ''
    parts.push(readPlaceholder(text, found, end))
    at = end + 1
  }
  plain += text.slice(at)
  if (plain !== '' || parts.length === 0) parts.push(plain)
  return parts
}

/** The placeholder as written in a document, without its default. */
export function placeholderText({ from, name }: Placeholder): string {
  if (from === 'object') return `\${${name}}`
  return `\${${from === 'attributes' ? 'device.attributes' : from}.${name}}`
}

/** The URL or BUCKET/KEY in the name of a placeholder for an object. */
export function objectLocation(name: string): string {
  return ofObject.exec(name)?.[1] ?? ''
}

function readPlaceholder(text: string, start: number, end: number): Placeholder {
  if (end < 0) throw new PlaceholderError(`the placeholder ${shortened(text.slice(start))} has no }${hint}`)
  const body = text.slice(start + opening.length, end)
  if (Object.hasOwn(fixed, body)) return fixed[body] as Placeholder
  const secret = ofSecret.exec(body)?.[1]
  if (secret !== undefined) return { from: 'secrets', name: secret, otherwise: undefined }
  if (ofObject.test(body)) return { from: 'object', name: body, otherwise: undefined }
  const file = body.length > maxPlaceholderLength ? undefined : ofFile.exec(body)?.[1]
  if (file !== undefined) return { from: 'file', name: file, otherwise: undefined }
  const match = body.length > maxPlaceholderLength ? null : named.exec(body)
  if (match === null) throw new PlaceholderError(`there is no placeholder ${shortened(`\${${body}}`)}${hint}`)
  const [, from, name = '', otherwise] = match
  return { from: from === 'params' ? 'params' : 'attributes', name, otherwise }
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const hint =
  ': expected ${params.NAME}, ${secrets.NAME}, ${file.NAME.url}, ${device.attributes.NAME}, ${device.deviceId}, ' +
  '${device.deviceName} or ${run.runId}; write $${ for a literal ${'
