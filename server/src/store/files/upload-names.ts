// The names of stored uploads, which are derived from their keys, so that all nodes find them.

import type { UploadKey } from '../../domain/file/ports/uploads.ts'

/** The separator @ does not occur in the parts. */
export function nameOfUpload({ fileName, version, size, sha256 }: UploadKey): string {
  return [fileName, version, size, sha256].join('@')
}

export function uploadOfName(ownerNo: number, name: string): UploadKey | undefined {
  const [fileName, version, size, sha256] = name.split('@')
  if (fileName === undefined || version === undefined || sha256 === undefined) return undefined
  return { ownerNo, fileName, version, size: Number(size), sha256 }
}

/** Concurrent calls for one name share the result of the first. */
export class Finishing {
  readonly #begun = new Map<string, Promise<unknown>>()

  join<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#begun.get(name)
    if (before) return before as Promise<T>
    const finishing = work().finally(() => this.#begun.delete(name))
    this.#begun.set(name, finishing)
    return finishing
  }
}
