// What a full or failing disk is for those who ask.

import { StorageUnavailable } from '../../domain/common/ports/storage-errors.ts'

export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new StorageUnavailable(error)
  }
}
