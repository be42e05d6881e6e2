// The URLs of files that devices get with a document. Whoever has one may fetch the content for an hour; nobody can make one.

import { ApiError } from '@jobcast/contract'
import type { FileFacts } from '@jobcast/contract/parameters'
import type { SecretBox } from '../access/ports/secret-box.ts'
import type { Store } from '../common/ports/store.ts'
import type { FileKey } from './file.ts'
import type { FoundFile } from './ports/files.ts'

const linkMs = 60 * 60_000

export type FileLinks = {
  /** What a device is told of a file, with a URL that holds from now on for an hour. */
  factsFor(ownerNo: number, file: FoundFile): FileFacts
}

type LinkDeps = { secretBox: SecretBox; now: () => number; base: () => string }

/** What a URL says. */
type ShownLink = FileKey & { owner: number; until: number; signature: string }

export function buildFileLinks({ secretBox, now, base }: LinkDeps): FileLinks {
  return {
    factsFor(ownerNo, { fileName, version, size, sha256, sha1, md5, url }) {
      const facts = { version, size, sha256, sha1, md5 }
      if (url !== null) return { ...facts, url }
      const until = Math.ceil((now() + linkMs) / 1000)
      const signature = secretBox.sign(signedText({ fileName, version, owner: ownerNo, until }))
      const query = new URLSearchParams({ owner: String(ownerNo), until: String(until), signature })
      return { ...facts, url: `${base()}${pathOf({ fileName, version })}?${query}` }
    },
  }
}

/** For people: where devices find them, without what lets them in. */
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

/** No part can have a line break. */
function signedText({ fileName, version, owner, until }: Omit<ShownLink, 'signature'>): string {
  return ['jobcast file', owner, fileName, version, until].join('\n')
}
