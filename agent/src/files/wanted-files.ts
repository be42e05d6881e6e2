// The files that a document names, with their URLs, sizes and hashes from the server. A signed hash takes precedence.

import { type DocumentFile, documentFiles, PlaceholderError } from '@jobcast/contract/parameters'
import { Refused } from '../document/document-fields.ts'
import { asObject } from '../transport/transport.ts'

export type WantedFile = { fileName: string; url: string; size: number; sha256: string }

/** Throws Refused. */
export function wantedFiles(
  document: unknown,
  facts: Readonly<Record<string, unknown>> = {},
  isSigned = false,
): WantedFile[] {
  return namedFiles(document).map(({ ref, fileName, sha256: named }) => {
    const given = asObject(Object.hasOwn(facts, ref) ? facts[ref] : undefined) ?? {}
    const { url, size, sha256 } = given
    if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new Refused(`the server sent no URL of the file ${ref}`)
    }
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      throw new Refused(`the server sent no size of the file ${ref}`)
    }
    if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw new Refused(`the server sent no sha256 of the file ${ref}`)
    }
    if (isSigned && named === undefined) {
      throw new Refused(`the signed document does not name the sha256 of the file ${ref}`)
    }
    if (named !== undefined && named !== sha256) {
      throw new Refused(`the file ${ref} of the server has another sha256 than the document names`)
    }
    return { fileName, url, size: size as number, sha256 }
  })
}

function namedFiles(document: unknown): DocumentFile[] {
  try {
    return documentFiles(document)
  } catch (error) {
    if (error instanceof PlaceholderError) throw new Refused(error.message)
    throw error
  }
}
