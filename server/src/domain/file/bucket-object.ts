// Objects of the bucket that documents name with the placeholder of AWS: ${aws:iot:s3-presigned-url-v2:https://s3.REGION.amazonaws.com/BUCKET/KEY}.
// Only those of the bucket in files-s3 that files-s3-placeholders names, because every owner can hand them out. And none of the keys
// under which this service keeps content: that would give every owner the files of all others.

import { ApiError } from '@jobcast/contract'
import { type DocumentTemplate, namesUsed, objectLocation } from '@jobcast/contract/parameters'
import type { DirectUrls } from './ports/direct-urls.ts'

type Found = { key: string } | { problem: string }

const ofAws =
  /^(?:([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?$/
const maxKeyBytes = 1024

/** Throws J-500. */
export function requireObjects(direct: DirectUrls | undefined, names: readonly string[]): void {
  for (const name of names) {
    const found = findObject(direct, name)
    if ('problem' in found) {
      const detail = `document has the placeholder \${${name}}, but ${found.problem}.`
      throw new ApiError('J-500', { field: 'document', detail })
    }
  }
}

/** Undefined: the service no longer accepts the placeholder. `name`: the text of a placeholder. */
export async function objectUrl(direct: DirectUrls | undefined, name: string): Promise<string | undefined> {
  const found = findObject(direct, name)
  return direct && 'key' in found ? direct.ofObject(found.key) : undefined
}

/** For people: the URLs without signatures. */
export function shownObjects(template: DocumentTemplate): Record<string, string> {
  return Object.fromEntries(namesUsed(template, 'object').map((name) => [name, objectLocation(name)]))
}

function findObject(direct: DirectUrls | undefined, name: string): Found {
  if (direct === undefined) {
    return { problem: 'devices do not fetch from a bucket: files-s3 and files-s3-direct are not both set' }
  }
  const { placeholders } = direct
  if (placeholders === undefined) {
    return {
      problem: 'files-s3-placeholders is not set, which names the objects that documents may hand out',
    }
  }
  const at = placeOf(direct, objectLocation(name))
  if ('problem' in at) return at
  const { bucket, key } = at
  if (bucket !== direct.bucket)
    return { problem: `the bucket of files-s3 is ${direct.bucket}, not ${bucket}` }
  if (key === '' || key.endsWith('/')) return { problem: 'it names no object' }
  if (Buffer.byteLength(key) > maxKeyBytes) return { problem: `its key has more than ${maxKeyBytes} bytes` }
  // Clients and servers resolve such keys to others.
  if (key.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    return { problem: 'its key has an empty part, or a part . or ..' }
  }
  if (direct.prefix === '') {
    return {
      problem: 'all keys of the bucket belong to this service: files-s3 must name a folder of the bucket',
    }
  }
  if (key.startsWith(direct.prefix)) {
    return { problem: `keys under ${direct.prefix} belong to this service: use \${file.NAME.url} for files` }
  }
  if (!placeholders.some((named) => named === '' || key === named || key.startsWith(`${named}/`))) {
    return { problem: 'files-s3-placeholders does not name the object, or a folder that it is in' }
  }
  return { key }
}

/** BUCKET/KEY, or a URL with the bucket in its host or its path. */
function placeOf(
  direct: DirectUrls,
  location: string,
): { bucket: string; key: string } | { problem: string } {
  if (!location.includes('://')) return divide(location)
  const url = URL.parse(location)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '') {
    return { problem: 'it has no URL of an object' }
  }
  if (url.search !== '') return { problem: 'its URL has a query; versions of objects are not supported' }
  // Not url.pathname, which resolves parts . and ..
  const path = location.slice(location.indexOf('/', location.indexOf('://') + 3) + 1)
  const inHost = ofAws.exec(url.host)?.[1] ?? bucketOf(direct, url.host)
  if (inHost !== undefined) return decoded(inHost, path)
  if (ofAws.test(url.host) || direct.isOfStore(url.host)) return divide(path)
  return { problem: `${url.host} is neither an address of S3 at AWS nor that of files-s3` }
}

/** The store of files-s3 may have the bucket in its host, too. */
function bucketOf(direct: DirectUrls, host: string): string | undefined {
  return host.startsWith(`${direct.bucket}.`) && direct.isOfStore(host) ? direct.bucket : undefined
}

function divide(path: string) {
  const end = path.indexOf('/')
  return end < 0 ? decoded(path, '') : decoded(path.slice(0, end), path.slice(end + 1))
}

function decoded(bucket: string, path: string): { bucket: string; key: string } | { problem: string } {
  try {
    return { bucket, key: decodeURIComponent(path) }
  } catch {
    return { problem: 'its key is not encoded as a URL' }
  }
}
