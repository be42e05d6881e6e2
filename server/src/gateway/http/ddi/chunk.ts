// The files of a document in hawkBit's form of a software module. Which fields clients need was taken from their source code:
// SWUpdate takes files whose name ends in .swu and verifies sha1; rauc-hawkbit-updater takes the first file and verifies sha1. Zephyr
// takes one file in a chunk whose part is bApp, and verifies sha256; the others ignore part.

import type { FileFacts } from '@jobcast/contract/parameters'
import type { DeviceDocument } from '../../../domain/execution/ports/documents.ts'
import type { LinkTo } from './download-link.ts'
import { linksField } from './links-field.ts'

type Link = { href: string }
type Artifact = {
  filename: string
  hashes: Record<string, string>
  size: number
  [linksField]: { download: Link; 'download-http': Link }
}
type Chunk = { part: string; version: string; name: string; artifacts: Artifact[] }

/** These devices fetch from this service: to a bucket they would send their token, and Zephyr accepts no other path. */
export function chunkOf({ json, files = '{}', ownUrls = {} }: DeviceDocument, linkTo: LinkTo): Chunk {
  const document = asObject(JSON.parse(json))
  const facts = JSON.parse(files) as Record<string, FileFacts>
  const listed = refsOf(document.files).filter((ref) => facts[ref])
  const refs = listed.length > 0 ? listed : Object.keys(facts)
  const extension = textOf(document.extension) ?? 'swu'
  const [first = ''] = refs
  return {
    part: textOf(document.part) ?? 'bApp',
    version: textOf(document.version) ?? facts[first]?.version ?? '',
    name: textOf(document.name) ?? nameOf(first),
    artifacts: refs.flatMap((ref) => artifactOf(ref, withUrl(facts[ref], ownUrls[ref]), extension, linkTo)),
  }
}

function withUrl(facts: FileFacts | undefined, ownUrl: string | undefined): FileFacts | undefined {
  return facts && (ownUrl === undefined ? facts : { ...facts, url: ownUrl })
}

function artifactOf(
  ref: string,
  facts: FileFacts | undefined,
  extension: string,
  linkTo: LinkTo,
): Artifact[] {
  if (facts === undefined) return []
  const { url, size, sha256, sha1, md5 } = facts
  const filename = extension === '' ? nameOf(ref) : `${nameOf(ref)}.${extension}`
  const href = linkTo(url, filename)
  const hashes = { ...(sha1 && { sha1 }), ...(md5 && { md5 }), sha256 }
  return [{ filename, hashes, size, [linksField]: { download: { href }, 'download-http': { href } } }]
}

/** The document lists names, or objects with a name. */
function refsOf(files: unknown): string[] {
  if (!Array.isArray(files)) return []
  return files.flatMap((each: unknown) => textOf(typeof each === 'object' ? asObject(each).name : each) ?? [])
}

/** Removes the version from the reference. */
function nameOf(ref: string): string {
  return ref.split('@', 1)[0] ?? ''
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : undefined
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
