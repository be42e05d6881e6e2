// Signed URLs of files, which devices get with a document: of this service, or of the bucket if devices fetch from it. The holder of
// a URL can fetch the content for an hour.

import { ApiError } from '@jobcast/contract'
import type { FileFacts } from '@jobcast/contract/parameters'
import type { SecretBox } from '../access/ports/secret-box.ts'
import type { Store } from '../common/ports/store.ts'
import { objectUrl } from './bucket-object.ts'
import type { FileKey } from './file.ts'
import type { DirectUrls } from './ports/direct-urls.ts'
import type { FoundFile } from './ports/files.ts'

const linkMs = 60 * 60_000

export type FileLinks = {
  /** The facts of a file for a device, with a URL that is valid for an hour. */
  factsFor(ownerNo: number, file: FoundFile): Promise<LinkedFile>
  /** The URL for the placeholder of an object; undefined: the service no longer accepts it. */
  objectUrl(name: string): Promise<string | undefined>
}
/** `ownUrl`: a URL of this service, if the other one is of the bucket. */
type LinkedFile = { facts: FileFacts; ownUrl?: string }

type LinkDeps = {
  secretBox: SecretBox
  now: () => number
  base: () => string
  direct: DirectUrls | undefined
}

/** The parts of a URL. */
type ShownLink = FileKey & { owner: number; until: number; signature: string }

export function buildFileLinks({ secretBox, now, base, direct }: LinkDeps): FileLinks {
  return {
    async factsFor(ownerNo, { fileName, version, size, sha256, sha1, md5, url }) {
      const facts = { version, size, sha256, sha1, md5 }
      if (url !== null) return { facts: { ...facts, url } }
      const until = Math.ceil((now() + linkMs) / 1000)
      const signature = secretBox.sign(signedText({ fileName, version, owner: ownerNo, until }))
      const query = new URLSearchParams({ owner: String(ownerNo), until: String(until), signature })
      const ownUrl = `${base()}${pathOf({ fileName, version })}?${query}`
      const directUrl = await direct?.ofContent(sha256)
      if (directUrl === undefined) return { facts: { ...facts, url: ownUrl } }
      return { facts: { ...facts, url: directUrl }, ownUrl }
    },
    objectUrl: (name) => objectUrl(direct, name),
  }
}

/** For people: the URLs without signatures. */
export async function readShownFiles(
  store: Pick<Store, 'findFiles'>,
  ownerNo: number,
  refs: readonly string[] = [],
): Promise<Record<string, FileFacts>> {
  if (refs.length === 0) return {}
  const found = await store.findFiles({ ownerNo, refs: [...refs] })
  return Object.fromEntries(
    found.map(({ ref, fileName, version, size, sha256, sha1, md5, url }) => [
      ref,
      { version, size, sha256, sha1, md5, url: url ?? pathOf({ fileName, version }) },
    ]),
  )
}

/** Throws J-322. */
export function requireLink(
  { secretBox, now }: Pick<LinkDeps, 'secretBox' | 'now'>,
  { signature, ...link }: ShownLink,
): void {
  if (!secretBox.isSigned(signedText(link), signature)) {
    throw new ApiError('J-322', { detail: 'The signature of the URL is not valid.' })
  }
  if (link.until * 1000 < now()) {
    const detail = 'The URL has expired: it holds for an hour. Ask for the document again to get a new one.'
    throw new ApiError('J-322', { detail })
  }
}

function pathOf({ fileName, version }: FileKey): string {
  return `/files/${fileName}/${encodeURIComponent(version)}`
}

/** Unambiguous, because no part can contain a line break. */
function signedText({ fileName, version, owner, until }: Omit<ShownLink, 'signature'>): string {
  return ['jobcast file', owner, fileName, version, until].join('\n')
}
